"""Counts a thread once: `thread` and `ssb:legacy_thread` on one root, where posts carry both notations."""

import json
from collections import Counter
from collections.abc import Iterable

from dbt_tangles.cli.page import join_names, quantity
from dbt_tangles.cli.tables import Tables

_REPEATED = """
    select root_id, list(tangle_name order by member_count, tangle_name) as names,
        names[1] as tangle_name, names[2] as kept_name, names[1] || ':' || root_id as timeline_id
    from tangles where tangle_name in ('ssb:legacy_thread', 'thread') group by root_id having count(*) > 1"""
#: The tables in which a thread in both notations has its rows twice: the repeated rows, and the columns that name them.
REPEATED = {
    "tangles": ("repeated_tangles", "tangle_name, root_id"),
    "tangle_messages": ("repeated_messages", "tangle_name, root_id, message_id"),
    "tangle_writer_faults": ("repeated_messages", "tangle_name, root_id, message_id"),
    "timeline_stats": ("repeated_tangles", "timeline_id"),
}


def count_alike(tables: "TablesOnce") -> list[dict]:
    """Count the roots on which both notations of a thread are, by the names of the tangles."""
    roots = Counter(tuple(sorted(names)) for names in tables.twins.values())
    return [{"names": [*names], "roots": n} for names, n in roots.items()]


def describe_alike(row: dict) -> str:
    """Describe the threads that are in both notations."""
    threads = quantity(row["roots"], "thread{ is|s are} in both notations")
    return f"{threads}, {join_names(row['names'])}; each is counted once"


class TablesOnce(Tables):
    """Tables in which a thread counts once, although the log has it in both notations, equal or not.

    Attributes:
        twins: The names of the tangles on each root with both; the last one, with the most members, stands for both.
    """

    def __init__(self, whole: Tables) -> None:
        vars(self).update(vars(whole.copy()))
        self.twins: dict[str, list[str]] = {}
        if self.keep("repeated_tangles", _REPEATED):
            rows = self.rows("select root_id, names from repeated_tangles order by root_id")
            self.twins = {row["root_id"]: row["names"] for row in rows}
        if not self.twins:
            return
        self.keep(
            "repeated_messages",
            """select repeated.tangle_name, root_id, message_id from tangle_messages as kept
            join repeated_tangles as repeated using (root_id) where kept.tangle_name = repeated.kept_name""",
        )
        for name, (repeated, columns) in REPEATED.items():
            self.show(name, f"select * from memory.main.{name} anti join {repeated} using ({columns})")

    def names_on(self, root_id: str, name: str) -> list[str]:
        """Return the names of the tangles for which a tangle stands, its own included."""
        names = self.twins.get(root_id, ())
        return sorted(names) if name in names else [name]


def merge_equal(rows: Iterable[dict], column: str = "tangle_name") -> list[tuple[list[str], dict]]:
    """Group rows that differ in one column only.

    Returns:
        For each group its values of that column, in the order given, and its first row.
    """
    found: dict[str, tuple[list[str], dict]] = {}
    for row in rows:
        rest = json.dumps({key: value for key, value in row.items() if key != column}, sort_keys=True, default=str)
        found.setdefault(rest, ([], row))[0].append(row[column])
    return [*found.values()]
