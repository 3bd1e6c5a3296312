"""What a report has of one tangle, feed, set, base, group or timeline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from dbt_tangles.cli.page import counted


class Limits(NamedTuple):
    """How much is shown.

    Attributes:
        subjects: Of each kind the largest, and as many of the most troubled.
        nodes: Of each the last.
    """

    subjects: int
    nodes: int


class Ask(NamedTuple):
    """What `tangles why` is asked of a node."""

    kind: str
    id: str
    only: str | None


@dataclass
class Part:
    """One subject.

    Attributes:
        entry: What a list says of it.
        view: What is drawn.
        asks: For nodes of the view, by number, what is asked.
    """

    entry: dict
    view: dict
    asks: dict[int, Ask] = field(default_factory=dict)


@dataclass
class Kind:
    """All that is shown of a kind.

    Attributes:
        total: How many there are.
        parts: Those that are shown.
    """

    total: int
    parts: list[Part]


def many(count: int | None, what: str) -> str:
    """Say how many there are of something."""
    return counted(count or 0, f"{what}{{|s}}")


def chosen(largest: list[dict], troubled: list[dict], key: str | tuple[str, ...]) -> list[dict]:
    """Merge two lists of rows, each once; `why` says for which it was chosen."""
    keys = (key,) if isinstance(key, str) else key
    rows: dict[tuple, dict] = {}
    for row in troubled:
        rows.setdefault(tuple(row[k] for k in keys), {**row, "chosen": "troubled"})
    for row in largest:
        rows.setdefault(tuple(row[k] for k in keys), {**row, "chosen": "large"})
    return [*rows.values()]
