"""Shell completion of ids, from the tables that the command would read."""

import os
from collections.abc import Callable, Iterable

import click

from dbt_tangles.cli import ids, subjects
from dbt_tangles.cli.tables import CommandError, Tables

_MOST = 20


def _completer(find: Callable[[Tables, str], Iterable[str]]) -> Callable[..., list[str]]:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        if not incomplete:
            return []  # A list of all ids helps no user.
        place = [
            ctx.params.get(name) or os.environ.get(f"TANGLES_{name.upper()}") or default
            for name, default in (("warehouse", "warehouse"), ("schema", "tangles"))
        ]
        try:
            found = sorted(set(find(Tables(*place), incomplete)))
        except CommandError:
            return []
        # Names with control characters are left out: a log may choose them to attack the terminal.
        return [id_ for id_ in found if id_.startswith(incomplete) and id_.isprintable()][:_MOST]

    return complete


#: Completes ids of messages, nodes and events.
of_messages = _completer(lambda tables, begin: (each.id for each in ids.find(tables, begin)))
#: Completes ids of the subjects of `tangles show`.
of_subjects = _completer(lambda tables, begin: (each.id for each in subjects.matching(tables, begin)))
