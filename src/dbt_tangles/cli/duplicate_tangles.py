"""Finds duplicate tangles: `thread` and `ssb:legacy_thread` on one root, where posts carry both notations."""

import json
from collections.abc import Iterable

from dbt_tangles.cli.tables import Tables

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
        where tangle_name in ('ssb:legacy_thread', 'thread')
        group by root_id, {_SAME} having count(*) > 1"""
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


def later_duplicates(duplicates: Iterable[dict]) -> list[tuple[str, str]]:
    """List the name and root of each duplicate except the first of its root."""
    return [(name, row["root_id"]) for row in duplicates for name in row["names"][1:]]


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
