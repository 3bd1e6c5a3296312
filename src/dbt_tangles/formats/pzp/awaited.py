"""The messages of an account that are awaited before a question about its keys can be decided.

The keys of an account at given tips are known once the log has those tips and all their ancestors, each with its data.
A missing message may add or delete any key, so it leaves the question open: unknown differs from refused.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.arrays import flags, runs, starts
from dbt_tangles.algorithms.graph.links import Links, look_up
from dbt_tangles.algorithms.graph.strings import Lists, Strings, lists_of, take_strings
from dbt_tangles.formats.pzp.account_rows import Lanes, Places
from dbt_tangles.kernel_runtime.compiled import inner

#: Maximum number of awaited ids per question among the ancestors of its tips; it keeps the list shorter than the
#: message.
MOST_GAPS = 16
_ONE = np.uint64(1)


class Gaps(NamedTuple):
    """The ids that messages of the log depend on and that the log lacks."""

    start: np.ndarray  # int64[nodes + 1], offsets of the gaps of each message in `code`
    code: np.ndarray  # int32[...]: equal for equal ids


class Lacking(NamedTuple):
    """The distinct gaps that each of up to 64 lanes sees."""

    code: np.ndarray  # int32[64, MOST_GAPS]
    count: np.ndarray  # int64[64], the number of codes


class Named(NamedTuple):
    """Ids, and the nodes that list them."""

    node: np.ndarray  # int[ids]
    id: pa.Array  # large_string[ids]


def find_gaps(table: pa.Table, foreign: pa.Table, places: Places, ids: Strings, links: Links) -> tuple[Gaps, pa.Array]:
    """Find the listed ids that are awaited, and the messages with missing data.

    Args:
        table: As for `signers.key_authority`.
        foreign: Ids that are never awaited, as for `signers.key_authority`.
        places: The numbered rows.
        ids: The id of each row.
        links: The edges from each message to its `prev`.

    Returns:
        The gaps, and the id of each code.
    """
    nodes = places.nodes
    # A root is the first message, so its list is ignored.
    lists_some = places.is_message.copy()
    lists_some[places.root[places.root >= 0]] = False
    parts = []
    if (links.some_missing & lists_some).any():
        prev = lists_of(table["prev"])
        found = look_up(nodes, ids, prev, places.is_message, ~lists_some)
        parts.append(find_missing(table, foreign, places, prev, found, lists_some))
    erased = np.flatnonzero(flags(table, "is_erased")[nodes.row] & places.is_message)
    parts.append(Named(erased, take_strings(ids, nodes.row[erased])))
    node = np.concatenate([part.node for part in parts])
    named = pa.chunked_array([part.id for part in parts]).combine_chunks().dictionary_encode()
    code = named.indices.to_numpy()[np.argsort(node, kind="stable")]
    return Gaps(starts(np.bincount(node, minlength=len(nodes.row))), code), named.dictionary


def find_missing(
    table: pa.Table, foreign: pa.Table, places: Places, lists: Lists, found: np.ndarray, is_owner: np.ndarray
) -> Named:
    """Find the listed ids that are awaited.

    Args:
        table: As for `signers.key_authority`.
        foreign: Ids that are never awaited, as for `signers.key_authority`.
        places: The numbered rows.
        lists: The list of each row.
        found: int32[items], the node of each listed id, as `look_up` returns it.
        is_owner: bool[nodes]; other lists are ignored.
    """
    row = places.nodes.row
    node_of_row = np.empty_like(row)
    node_of_row[row] = np.arange(len(row), dtype=row.dtype)
    owner = np.repeat(node_of_row, np.diff(lists.starts))
    item = np.flatnonzero((found < 0) & lists.items.valid & is_owner[owner])
    missing = Named(owner[item], take_strings(lists.items, item))
    if not len(foreign) or not len(item):
        return missing
    accounts = table["account_id"].take(pa.array(row[missing.node])).to_pylist()
    elsewhere = set(zip(foreign["account_id"].to_pylist(), foreign["message_id"].to_pylist(), strict=True))
    is_awaited = np.array([pair not in elsewhere for pair in zip(accounts, missing.id.to_pylist(), strict=True)])
    return Named(missing.node[is_awaited], missing.id.filter(pa.array(is_awaited)))


def list_awaited(
    places: Places, lanes: Lanes, named: Named, gap_end: np.ndarray, gap: np.ndarray, ids: pa.Array
) -> pa.Array:
    """List the ids that each question awaits.

    Args:
        places: The numbered rows.
        lanes: The questions.
        named: The awaited tips, and the questions that name them.
        gap_end: int64[lanes], the end of each lane's gaps.
        gap: int32[...], their codes.
        ids: The id of each code.

    Returns:
        list<string>[rows], ascending and distinct; null if the list would be empty.
    """
    gap_start = np.concatenate([np.zeros(1, np.int64), gap_end])
    lane = np.flatnonzero(np.diff(gap_start))
    question_start, question = runs(lanes.question_start, lane)
    code_start, code = runs(gap_start, np.repeat(lane, np.diff(question_start)))
    node = np.repeat(lanes.question[question], np.diff(code_start))
    seen = Named(node, ids.take(pa.array(gap[code])))
    row = np.concatenate([places.nodes.row[part.node] for part in (named, seen)])
    listed = pa.table({"row": row, "id": pa.chunked_array([named.id, seen.id], pa.large_string())})
    listed = listed.group_by(["row", "id"]).aggregate([]).sort_by([("row", "ascending"), ("id", "ascending")])
    counts = np.bincount(listed["row"].to_numpy(), minlength=len(places.nodes.row))
    values = listed["id"].combine_chunks().cast(pa.string())
    return pa.ListArray.from_arrays(pa.array(starts(counts).astype(np.int32)), values, mask=pa.array(counts == 0))


@inner
def collect_gaps(begin, end, root, by_tips, seen, gaps, lacking):
    """List, for each of up to 64 lanes, the first distinct gaps of the messages it sees, in replay order."""
    start, code = gaps.start, gaps.code
    found, counts = lacking.code, lacking.count
    for m in range(begin, end):
        for at in range(start[m], start[m + 1]):
            lanes = seen[m - begin]
            if m != root:
                lanes &= by_tips
            lane = 0
            while lanes:
                if lanes & _ONE and counts[lane] < MOST_GAPS:
                    is_new = True
                    for k in range(counts[lane]):
                        is_new &= found[lane, k] != code[at]
                    if is_new:
                        found[lane, counts[lane]] = code[at]
                        counts[lane] += 1
                lanes >>= _ONE
                lane += 1
