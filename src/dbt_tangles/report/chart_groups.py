"""The groups that the columns of charts count, as SQL expressions: the search filters by them, so counts are links."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

#: Times from 1970 on and before 2100 count, because authors may assert any number. Milliseconds.
EARLIEST, LATEST = 1_000, 4_102_444_800_000


class Grouping(NamedTuple):
    """A grouping of a table's rows; rows without a group have the empty text."""

    table: str
    group: str


def low_of(column: str) -> str:
    """Return the expression of the least number of a range 0, 1, 2 to 3, 4 to 7, 8 to 15, ..."""
    return f"case when {column} < 1 then 0 else (2 ** floor(log2({column})))::bigint end"


_IS_WELL = "set_aside_count + invalid_claim_count = 0"


def _range_of(column: str) -> Grouping:
    words = f"{low_of(column)} || case when {_IS_WELL} then ' well' else ' troubled' end"
    return Grouping("tangles", f"case when tangle_name = 'ssb:feed' then '' else {words} end")


#: Groupings by name: filters of the search take them like tables, and the groups like verdicts.
GROUPINGS: MappingProxyType[str, Grouping] = MappingProxyType(
    {
        "messages_by_kind": Grouping(
            "tangle_messages", "case when is_fork then 'forks' when is_member then 'members' else 'set_aside' end"
        ),
        "merges": Grouping("tangle_messages", "case when is_merge then 'merges' else '' end"),
        "tangles_by_trouble": Grouping(
            "tangles",
            f"case when tangle_name = 'ssb:feed' then '' when {_IS_WELL} then 'well' else 'troubled' end",
        ),
        "tangles_by_size": _range_of("candidate_count"),
        "tangles_by_depth": _range_of("depth"),
    }
)
