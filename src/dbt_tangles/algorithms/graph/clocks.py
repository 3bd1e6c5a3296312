"""Vector clocks: for each member and each author among its ancestors, the highest sequence."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.members import GRAPH, Member, number_members
from dbt_tangles.columns.arrays import ranges, starts
from dbt_tangles.columns.dense_ids import group_rows
from dbt_tangles.columns.strings import strings_of
from dbt_tangles.kernel_runtime.compiled import compiled
from dbt_tangles.kernel_runtime.kernel import kernel
from dbt_tangles.kernel_runtime.output import Texts
from dbt_tangles.kernel_runtime.row_schema import Int32

#: Of no message: a sequence is a 32-bit integer.
NONE_SEEN = np.int64(-(2**63))
#: The most entries of the clocks that are computed together: 32 MiB.
MOST_ENTRIES = 2**22


class Clock(NamedTuple):
    """The highest sequence of an author among the ancestors of a member."""

    graph_kind: str | None
    graph_id: str | None
    node_id: str
    author: str
    sequence: Int32


class _Blocks(NamedTuple):
    """Blocks of authors, each with a clock per member of its graph."""

    graph: np.ndarray  # int64[blocks]
    first: np.ndarray  # int64[blocks], the first author
    width: np.ndarray  # int64[blocks], the number of authors
    entry: np.ndarray  # int64[blocks + 1], into the entries: a row of `width` for each member


@kernel(keys=GRAPH, reads=Member, writes=Clock)
def author_clocks(
    table: pa.Table, limit: int, max_rows: int = 2**31 - 1, most_entries: int = MOST_ENTRIES
) -> Iterator[dict]:
    """List, for each member, the authors among its ancestors and the highest sequence of each.

    All clocks at once would take members * authors integers. The kernel therefore takes authors in blocks, and sweeps
    the graph once per block.

    Args:
        table: Rows of `Member`. One without author or sequence is an ancestor, but adds no entry to a clock.
        limit: Graphs with at most this many members are skipped: `ancestor_pairs` covers them.
        max_rows: Graphs where members * authors exceeds this are skipped as a whole. The product is known in advance
            and is an upper bound of the rows; it is also a good `group_limit`.
        most_entries: As `MOST_ENTRIES`; a block holds at least one author.

    Yields:
        Columns of `Clock`.

    Raises:
        ValueError: As `members.number_members`.
    """
    dag, row = number_members(table)
    kinds, graphs, ids, names = (Texts(table[name]) for name in ("graph_kind", "graph_id", "node_id", "author"))
    sizes = np.diff(dag.graph_start)
    graph = np.repeat(np.arange(len(sizes)), sizes)
    is_known = (table["author"].is_valid().to_numpy() & table["sequence"].is_valid().to_numpy())[row]
    code, code_count = group_rows(strings_of(table["author"]))
    pairs, first, number = np.unique(
        graph[is_known] * code_count + code[row[is_known]], return_index=True, return_inverse=True
    )
    name_row = row[is_known][first]
    author = np.full(len(row), -1)
    author[is_known] = number
    author_start = np.searchsorted(pairs, np.arange(len(sizes) + 1) * code_count)
    sequence = table["sequence"].fill_null(0).to_numpy()[row]

    counts = np.diff(author_start)
    wanted = np.flatnonzero((sizes > limit) & (sizes * counts <= max_rows) & (counts > 0))
    blocks = _blocks(wanted, author_start, sizes, most_entries)
    for begin, end in ranges(np.diff(blocks.entry), most_entries):
        part = _Blocks(*(each[begin:end] for each in blocks[:3]), blocks.entry[begin : end + 1] - blocks.entry[begin])
        clock = np.full(part.entry[-1], NONE_SEEN)
        _sweep_blocks(dag, author, sequence, part, clock)
        entry = np.flatnonzero(clock != NONE_SEEN)
        block = np.searchsorted(part.entry, entry, side="right") - 1
        place, column = np.divmod(entry - part.entry[block], part.width[block])
        at = row[dag.graph_start[part.graph[block]] + place]
        if len(at):
            yield {
                "graph_kind": kinds.at(at),
                "graph_id": graphs.at(at),
                "node_id": ids.at(at),
                "author": names.at(name_row[part.first[block] + column]),
                "sequence": clock[entry],
            }


def _blocks(wanted: np.ndarray, author_start: np.ndarray, sizes: np.ndarray, most_entries: int) -> _Blocks:
    """Divide the authors of some graphs into blocks."""
    counts = np.diff(author_start)[wanted]
    width = np.clip(most_entries // sizes[wanted], 1, counts)
    each = -(-counts // width)
    graph, width = np.repeat(wanted, each), np.repeat(width, each)
    first = author_start[graph] + (np.arange(len(graph)) - np.repeat(starts(each)[:-1], each)) * width
    width = np.minimum(width, author_start[graph + 1] - first)
    return _Blocks(graph, first, width, starts(sizes[graph] * width))


@compiled
def _sweep_blocks(dag, author, sequence, blocks, clock):
    """Compute the clocks of each block: the maximum over previous and their authors."""
    start, previous = dag.start, dag.previous
    for b in range(len(blocks.graph)):
        low, end = dag.graph_start[blocks.graph[b]], dag.graph_start[blocks.graph[b] + 1]
        width = blocks.width[b]
        for m in range(low, end):
            own = blocks.entry[b] + (m - low) * width
            for e in range(start[m], start[m + 1]):
                p = previous[e]
                other = blocks.entry[b] + (p - low) * width
                for i in range(width):
                    clock[own + i] = max(clock[own + i], clock[other + i])
                i = author[p] - blocks.first[b]
                if 0 <= i < width:
                    clock[own + i] = max(clock[own + i], sequence[p])
