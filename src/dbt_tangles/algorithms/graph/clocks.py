"""Vector clocks: for each member and each author among its ancestors, the highest sequence."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.ancestors import MAX_CHUNK_ROWS
from dbt_tangles.algorithms.graph.members import number_members, single_chunk
from dbt_tangles.kernel_runtime.compiled import compiled, inner

CLOCK_SCHEMA = pa.schema(
    [
        ("graph_kind", pa.string()),
        ("graph_id", pa.string()),
        ("node_id", pa.string()),
        ("author", pa.string()),
        ("sequence", pa.int32()),
    ]
)
#: Of no message: a sequence is a 32-bit integer.
NONE_SEEN = np.int64(-(2**63))


class _Authors(NamedTuple):
    """The authors of each graph, numbered from 0 by first appearance, and the sequences of their messages."""

    number: np.ndarray  # int32[members], the author of each member within its graph, or -1
    start: np.ndarray  # int64[graphs + 1], offsets of the authors of each graph among all
    first_member: np.ndarray  # int32[authors of all graphs], a member by each author
    sequence: np.ndarray  # int32[members]


class _Entries(NamedTuple):
    """Output of one batch: int32[rows] each: members by number, authors by number among all, highest sequences."""

    member: np.ndarray
    author: np.ndarray
    sequence: np.ndarray


def author_clocks(
    table: pa.Table,
    limit: int,
    max_rows: int = 2**31 - 1,
    chunk_rows: int = MAX_CHUNK_ROWS,
    memory: int = 128 * 2**20,
) -> Iterator[pa.RecordBatch]:
    """List, for each member, the authors among its ancestors and the highest sequence of each.

    All clocks at once would take members * authors integers. The kernel therefore takes authors in blocks, as many as
    fit into the given memory, and sweeps the graph once per block.

    Args:
        table: As for `members.number_members`, with `author` string and `sequence` int32. A row where either is null
            counts as an ancestor, but adds no entry to a clock.
        limit: Graphs with at most this many members are skipped: `ancestor_pairs` covers them.
        max_rows: Graphs where members * authors exceeds this are skipped as a whole. The product is known in advance
            and is an upper bound of the rows.
        chunk_rows: Maximum number of rows per batch.
        memory: Bytes for the clocks of one block; a block holds at least one author (eight bytes per member).

    Yields:
        Batches of `CLOCK_SCHEMA`.
    """
    dag, row = number_members(table)
    names, roots, ids, authors = (
        single_chunk(table[name], chunk_rows) for name in ("graph_kind", "graph_id", "node_id", "author")
    )
    by_author = _authors_of(table, authors, dag.graph_start, row)
    sizes, counts = np.diff(dag.graph_start), np.diff(by_author.start)
    wanted = (sizes > limit) & (sizes * counts <= max_rows)
    widths = np.where(wanted, np.clip(memory // 8 // np.maximum(sizes, 1), 1, np.maximum(counts, 1)), 0)
    clock = np.empty((sizes * widths).max(initial=0), np.int64)
    # Where the next batch resumes: graph, first author of the block, member, and author.
    state = np.array([0, 0, -1, 0], np.int64)
    room = min(chunk_rows, 1 + int((sizes * counts)[wanted].sum()))
    while state[0] < len(sizes):
        entries = _Entries(*(np.empty(room, np.int32) for _ in range(3)))
        count = _fill_clocks(dag, by_author, widths, clock, state, entries)
        if count:
            at = pa.array(row[entries.member[:count]])
            columns = [names.take(at), roots.take(at), ids.take(at)]
            columns.append(authors.take(pa.array(row[by_author.first_member[entries.author[:count]]])))
            columns = [column.cast(pa.string()) for column in columns]
            yield pa.record_batch([*columns, pa.array(entries.sequence[:count])], schema=CLOCK_SCHEMA)


def _authors_of(table: pa.Table, authors: pa.Array, graph_start: np.ndarray, row: np.ndarray) -> _Authors:
    """Number the authors of each graph; a member without author or sequence has number -1."""
    known = table["author"].is_valid().to_numpy() & table["sequence"].is_valid().to_numpy()
    sequence = table["sequence"].cast(pa.int32()).fill_null(0).to_numpy()[row]
    codes = authors.dictionary_encode().indices.fill_null(0).to_numpy().astype(np.int64)
    return _Authors(*_number_authors(graph_start, np.where(known, codes, -1)[row]), sequence)


@compiled
def _number_authors(graph_start, code):
    graphs = len(graph_start) - 1
    codes = 0
    for m in range(len(code)):
        codes = max(codes, code[m] + 1)
    seen_in = np.full(codes, np.int64(-1))
    number = np.empty(codes, np.int32)
    author = np.full(len(code), np.int32(-1))
    author_start = np.zeros(graphs + 1, np.int64)
    first_member = np.empty(len(code), np.int32)
    count = 0
    for g in range(graphs):
        for m in range(graph_start[g], graph_start[g + 1]):
            c = code[m]
            if c < 0:
                continue
            if seen_in[c] != g:
                seen_in[c] = g
                number[c] = count - author_start[g]
                first_member[count] = m
                count += 1
            author[m] = number[c]
        author_start[g + 1] = count
    return author, author_start, first_member[:count].copy()


@compiled
def _fill_clocks(dag, authors, widths, clock, state, entries):
    """Write the next clock entries, resuming at `state`; return their number."""
    graph_start, author_start = dag.graph_start, authors.start
    member, author_at, seen = entries.member, entries.author, entries.sequence
    graph, block, m, a = state
    count = 0
    while graph < len(graph_start) - 1:
        first, end = graph_start[graph], graph_start[graph + 1]
        author_count = author_start[graph + 1] - author_start[graph]
        while widths[graph] > 0 and block < author_count:
            width = min(widths[graph], author_count - block)
            if m < 0:
                _sweep_block(dag, authors, first, end, block, clock[: (end - first) * width])
                m = first
                a = 0
            while m < end:
                while a < width:
                    value = clock[(m - first) * width + a]
                    if value != NONE_SEEN:
                        if count == len(member):
                            state[:] = graph, block, m, a
                            return count
                        member[count] = m
                        author_at[count] = author_start[graph] + block + a
                        seen[count] = value
                        count += 1
                    a += 1
                a = 0
                m += 1
            m = -1
            block += width
        block = 0
        graph += 1
    state[:] = graph, block, m, a
    return count


@inner
def _sweep_block(dag, authors, first, end, block, clock):
    """Compute the clocks of a graph's members for one block of authors: the maximum over previous and their authors."""
    start, previous, author, sequence = dag.start, dag.previous, authors.number, authors.sequence
    width = len(clock) // (end - first)
    for k in range(first, end):
        own = clock[(k - first) * width : (k - first + 1) * width]
        own[:] = NONE_SEEN
        for e in range(start[k], start[k + 1]):
            p = previous[e]
            other = clock[(p - first) * width : (p - first + 1) * width]
            for i in range(width):
                own[i] = max(own[i], other[i])
            i = author[p] - block
            if 0 <= i < width:
                own[i] = max(own[i], sequence[p])
