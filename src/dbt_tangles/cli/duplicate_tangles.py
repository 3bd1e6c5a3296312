"""Finds duplicate tangles: `thread` and `ssb:legacy_thread` on one root, where posts carry both notations."""

import json
from collections import Counter
from collections.abc import Iterable

from dbt_tangles.cli.page import join_names, quantity
from dbt_tangles.cli.tables import Tables

#: The names of the tangles of a thread in its two notations. The older one comes first.
_OF_THREADS = ("ssb:legacy_thread", "thread")
#: The tables with rows of one named tangle each.
NAMED = frozenset(("tangles", "tangle_messages", "tangle_writer_faults"))
_MOST_NAMES = 5
_SAME = "root_status, member_count, set_aside_count, tips"
#: The columns of a tangle's messages and writer faults that must agree.
_OF_MESSAGES = "message_id, is_member, set_aside_reason, depth, is_tip, is_fork, is_merge"
_OF_FAULTS = "message_id, fault"


def find_duplicates(tables: Tables) -> list[dict]:
    """List the roots on which both notations of a thread agree: same candidates, verdicts, depths, tips and faults.

    Tangles of other names are never duplicates, even if they coincide, as those of an epoch's first message do.

    Returns:
        For each `root_id` the `names` that agree, sorted.
    """
    alike = tables.rows(
        f"""select root_id, list(tangle_name) as names from {{tangles}}
        where list_contains($names, tangle_name) group by root_id, {_SAME} having count(*) > 1""",
        names=[*_OF_THREADS],
    )
    if not alike:
        return []
    # Compare the messages of these tangles only, by a digest of each tangle.
    return tables.rows(
        f"""with wanted as (select unnest($names) as tangle_name, unnest($roots) as root_id),
        messages as ({_digests("tangle_messages", _OF_MESSAGES)}),
        faults as ({_digests("tangle_writer_faults", _OF_FAULTS)})
        select root_id, list(tangle_name order by tangle_name) as names
        from messages left join faults using (root_id, tangle_name)
        group by root_id, messages.n, messages.digest, faults.n, faults.digest having count(*) > 1 order by root_id""",
        names=[name for row in alike for name in row["names"]],
        roots=[row["root_id"] for row in alike for _ in row["names"]],
    )


def _digests(table: str, columns: str) -> str:
    return f"""select root_id, tangle_name, count(*) as n, bit_xor(hash({columns})) as digest
        from {{{table}}} semi join wanted using (root_id, tangle_name) group by root_id, tangle_name"""


def repeated_tangles(duplicates: Iterable[dict]) -> list[tuple[str, str]]:
    """List the name and root of each duplicate except the last of its root, which stands for all."""
    return [(name, row["root_id"]) for row in duplicates for name in row["names"][:-1]]


def count_alike(duplicates: Iterable[dict]) -> list[dict]:
    """Count the roots for each combination of names whose tangles agree."""
    roots = Counter(tuple(row["names"]) for row in duplicates)
    return [{"names": [*names], "roots": n} for names, n in roots.most_common(_MOST_NAMES)]


def describe_alike(row: dict) -> str:
    """Describe a combination of names for people."""
    return f"{join_names(row['names'])} are equal on {quantity(row['roots'], 'root{|s}')}; each pair is counted once"


class TablesOnce(Tables):
    """Tables in which one tangle stands for all duplicates of it.

    Attributes:
        duplicates: The roots with duplicate tangles, as of `find_duplicates`.
    """

    def __init__(self, whole: Tables) -> None:
        self._whole = whole
        self.folder, self.missing, self.found_in = whole.folder, whole.missing, whole.found_in
        self._connection = whole._connection
        self.duplicates = find_duplicates(whole)
        repeated = repeated_tangles(self.duplicates)
        names, roots = [name for name, _ in repeated], [root for _, root in repeated]
        whole.rows(
            """create or replace temp table repeated_tangles as
            select unnest($names::varchar[]) as tangle_name, unnest($roots::varchar[]) as root_id""",
            names=names,
            roots=roots,
        )

    def names_on(self, root_id: str, name: str) -> list[str]:
        """Return the names of the tangles for which a tangle stands, its own included."""
        found = (row["names"] for row in self.duplicates if row["root_id"] == root_id and name in row["names"])
        return next(found, [name])

    def rows_of(self, name: str, columns: str, column: str, value: str, rest: str = "") -> list[dict]:
        """Return rows with an id from all tangles, see `Tables.rows_of`."""
        return self._whole.rows_of(name, columns, column, value, rest)

    def _source(self, name: str) -> str:
        source = super()._source(name)
        if name not in NAMED or not self.duplicates:
            return source
        return f"(select * from {source} anti join repeated_tangles using (tangle_name, root_id))"


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
