"""Completes ids in a shell, from the tables that a command would ask."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import click

from dbt_tangles.cli import ids, subjects
from dbt_tangles.cli.tables import AskError, Tables

_MOST = 20


def _completer(find: Callable[[Tables, str], Iterable[str]]) -> Callable[..., list[str]]:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        if not incomplete:
            return []  # Of all ids nobody can choose.
        place = [
            ctx.params.get(name) or os.environ.get(f"TANGLES_{name.upper()}") or default
            for name, default in (("warehouse", "warehouse"), ("schema", "tangles"))
        ]
        try:
            found = sorted(set(find(Tables(*place), incomplete)))
        except AskError:
            return []
        # A name that a log chose, and that a terminal would obey, is not offered.
        return [id_ for id_ in found if id_.startswith(incomplete) and id_.isprintable()][:_MOST]

    return complete


#: Of messages, nodes and events.
of_messages = _completer(lambda tables, begin: (each.id for each in ids.find(tables, begin)))
#: Of what can be shown.
of_subjects = _completer(lambda tables, begin: (each.id for each in subjects.matching(tables, begin)))
