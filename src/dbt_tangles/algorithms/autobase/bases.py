"""Orders many bases: once with all nodes, and once for the view of each writer.

The view of a writer is its last node and all ancestors of that node. Each view is extracted from its base and ordered
on its own, many views at a time.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.autobase import consensus, design
from dbt_tangles.algorithms.autobase.views import ViewArrays
from dbt_tangles.columns.arrays import first_rows, starts
from dbt_tangles.columns.dense_ids import Nodes, group_rows
from dbt_tangles.columns.links import link
from dbt_tangles.columns.strings import lists_of, strings_of
from dbt_tangles.formats.autobase.verify_lines import Length
from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH
from dbt_tangles.kernel_runtime.compiled import compiled, inner
from dbt_tangles.kernel_runtime.row_schema import arrow_type

#: One row per base and member node. `indexers` and `start` describe the base, and are set on one of its rows.
INPUT_SCHEMA = pa.schema(
    [
        ("base_id", pa.string()),
        ("node_id", pa.string()),
        ("writer", pa.string()),
        ("length", pa.int32()),
        ("previous", pa.list_(pa.string())),
        ("batch", pa.int32()),
        ("is_relayed", pa.bool_()),
        ("indexers", pa.list_(pa.string())),
        ("start", pa.list_(arrow_type(Length))),
    ]
)
ORDER_SCHEMA = pa.schema(
    [
        ("base_id", pa.string()),
        ("observer", pa.string()),
        ("position", pa.int32()),
        ("node_id", pa.string()),
        ("is_confirmed", pa.bool_()),
    ]
)

#: The observer that knows all nodes of a base.
ALL = "all"

AUTOBASE, DESIGN = "autobase", "design"
RULES = {AUTOBASE: consensus.order_views, DESIGN: design.order_views}

#: The most nodes times indexers of a base; its clocks take four bytes for each.
ENTRY_LIMIT = 2**28

#: The most entries (nodes times indexers, and edges) of views that are ordered together.
VIEW_ENTRIES = 4_000_000

_ALL_NODES = -1
_NEEDED = ("base_id", "node_id", "writer", "length", "batch", "is_relayed")


class Bases(NamedTuple):
    """The nodes of many bases, numbered by base, then writer, then length."""

    start: np.ndarray  # int64[bases + 1], into the nodes
    row: np.ndarray  # int32[nodes], the input row of each node
    edge_start: np.ndarray  # int64[nodes + 1], into `previous`
    previous: np.ndarray  # int32[edges], the previous nodes of each node
    writer: np.ndarray  # int32[nodes], the writer's place in `names`
    length: np.ndarray  # int64[nodes]
    batch: np.ndarray  # int32[nodes]
    indexer: np.ndarray  # int32[nodes], the writer's number among the base's indexers, or -1
    is_relayed: np.ndarray  # bool[nodes]
    indexer_start: np.ndarray  # int64[bases + 1], into the indexers of all bases
    indexer_name: np.ndarray  # int64[...], the place of each indexer in `names`; ascending within a base
    floor: np.ndarray  # int64[...], the length of each indexer's log that was confirmed before
    names: pa.Array  # The keys of all writers, ascending


class EdgeRows(NamedTuple):
    """The nodes and edges of many bases, as in `Bases`."""

    base_start: np.ndarray  # int64[bases + 1], into the nodes
    start: np.ndarray  # int64[nodes + 1], into `previous`
    previous: np.ndarray  # int32[edges]


class Views(NamedTuple):
    """Views of bases."""

    start: np.ndarray  # int64[views + 1], into the nodes of the views
    node: np.ndarray  # int32[...], the node of the base that each is; ascending within a view
    edge_start: np.ndarray  # int64[... + 1], into `previous`
    previous: np.ndarray  # int32[edges], nodes of the views
    floor_start: np.ndarray  # int64[views + 1]
    floor: np.ndarray  # int64[...]


def order_bases(table: pa.Table, row_limit: int, rule: str = AUTOBASE) -> Iterator[pa.RecordBatch]:
    """Order many bases: with all their nodes, and as each writer's last node sees them.

    The order of the rows affects only the order of the bases in the result.

    Args:
        table: One row per base and node, in any order, whole bases only (`INPUT_SCHEMA`; further columns are ignored).
            The nodes of a base are consistent: all previous nodes are present, and the graph has no cycle.
            `node_id`, unique in its base; `previous`, the ids of all previous nodes, the writer's own one included;
            `batch`, the number of nodes left in its batch, this one included; `is_relayed`; `indexers`, the writers
            whose nodes are votes; `start`, the length of each log that was confirmed before.
        row_limit: A base with more writers times nodes is ordered for the observer `ALL` only, and a base with more
            than `ENTRY_LIMIT` indexers times nodes is left out.
        rule: `AUTOBASE` (see `consensus`) or `DESIGN` (see `design`, which leaves out bases of more than `DESIGN_LIMIT`
            nodes).

    Yields:
        Rows of `ORDER_SCHEMA`. `position` counts from 0 for each base and observer, `ALL` or a writer; relayed nodes
        have one only where they are confirmed. The rows with `is_confirmed` come first.

    Raises:
        ValueError: The rule is unknown; a value is null; a node occurs twice; a previous node is missing; or the rule
            finds a cycle, a gap in an indexer's log, or a log that does not begin where `start` ends.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    if rule not in RULES:
        raise ValueError(f"no rule is called {rule!r}; there are {', '.join(RULES)}")
    if not len(table):
        return
    bases = number_bases(table)
    observers = pa.concat_arrays([bases.names, pa.array([ALL], pa.large_string())])
    base, top = _observers(bases, row_limit)
    is_in_reach = are_within_limit(bases)
    if rule == DESIGN:
        is_in_reach &= np.diff(bases.start) <= design.DESIGN_LIMIT
    base, top = base[is_in_reach[base]], top[is_in_reach[base]]
    if not len(base):
        return
    for views_base, views_top in split_views(bases, base, top):
        views = extract_views(bases, views_base, views_top)
        order, _, confirmed = RULES[rule](view_arrays(bases, views))
        observer = np.where(views_top == _ALL_NODES, len(bases.names), bases.writer[views_top])
        placed = np.flatnonzero(order >= 0)
        for begin in range(0, len(placed), ROWS_PER_BATCH):
            at = placed[begin : begin + ROWS_PER_BATCH]
            view = np.searchsorted(views.start, at, "right") - 1
            position = (at - views.start[view]).astype(np.int32)
            row = pa.array(bases.row[views.node[order[at]]])
            columns = [
                table["base_id"].take(row),
                observers.take(pa.array(observer[view])),
                pa.array(position),
                table["node_id"].take(row),
                pa.array(position < confirmed[view]),
            ]
            yield from pa.table(columns, ORDER_SCHEMA.names).cast(ORDER_SCHEMA).combine_chunks().to_batches()


def number_bases(table: pa.Table) -> Bases:
    """Number the nodes of many bases.

    Args:
        table: As for `order_bases`.

    Returns:
        The bases, in the order of their first rows.

    Raises:
        ValueError: A value is null, a node occurs twice, or a previous node is missing.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    for name in _NEEDED:
        if table[name].null_count:
            raise ValueError(f"a {name} of the nodes is null; fill it in")
    base, base_count = group_rows(strings_of(table["base_id"]))
    indexers, indexer_base, floors, floor_base = _base_columns(table, base, base_count)
    place, names = _place_writers([*table["writer"].chunks, indexers, pc.struct_field(floors, "writer")])
    writer, indexer_place, floor_place = np.split(place, [len(table), len(table) + len(indexers)])
    length = table["length"].to_numpy().astype(np.int64)
    row = np.lexsort((length, writer, base)).astype(np.int32)
    start = starts(np.bincount(base, minlength=base_count))
    alike = (np.diff(base[row]) == 0) & (np.diff(writer[row]) == 0) & (np.diff(length[row]) == 0)
    if alike.any():
        at = int(row[np.argmax(alike)])
        raise ValueError(f"node {table['node_id'][at]} is in base {table['base_id'][at]} twice; pass each node once")

    # A pair of a base and a writer is one integer.
    key_count = len(names)
    indexer_pair = np.unique(indexer_base * key_count + indexer_place)
    floor = _floor_lengths(indexer_pair, floor_base * key_count + floor_place, floors)
    indexer_start = np.searchsorted(indexer_pair, np.arange(base_count + 1) * key_count).astype(np.int64)
    found, is_found = _look_up(indexer_pair, base[row] * np.int64(key_count) + writer[row])
    indexer = np.where(is_found, found - indexer_start[base[row]], -1).astype(np.int32)

    every = np.ones(len(table), np.bool_)
    links = link(Nodes(start, row), strings_of(table["node_id"]), lists_of(table["previous"]), every, ~every)
    if links.some_missing.any():
        at = int(row[np.argmax(links.some_missing)])
        node = f"node {table['node_id'][at]} of base {table['base_id'][at]}"
        raise ValueError(f"{node} follows what is not there; pass all nodes that it lists")
    return Bases(
        start,
        row,
        links.start,
        links.previous,
        writer[row].astype(np.int32),
        length[row],
        table["batch"].to_numpy().astype(np.int32)[row],
        indexer,
        table["is_relayed"].to_numpy()[row],
        indexer_start,
        indexer_pair % max(key_count, 1),
        floor,
        names,
    )


def _base_columns(
    table: pa.Table, base: np.ndarray, base_count: int
) -> tuple[pa.Array, np.ndarray, pa.Array, np.ndarray]:
    """Take `indexers` and `start` of each base, flattened, each with the base of its entries."""
    first_row = first_rows(base, base_count)
    telling = np.flatnonzero(table["indexers"].is_valid().to_numpy())
    first_row[base[telling[::-1]]] = telling[::-1]
    columns = table.select(["indexers", "start"]).take(pa.array(first_row))
    return *_flatten(columns["indexers"]), *_flatten(columns["start"])


def _place_writers(chunks: list[pa.Array]) -> tuple[np.ndarray, pa.Array]:
    """Number writers by key: int64[entries of all chunks], and the distinct keys, ascending."""
    keys = pa.chunked_array([chunk.cast(pa.large_string()) for chunk in chunks], pa.large_string())
    if keys.null_count:
        raise ValueError("a writer in indexers or start is null; fill it in")
    code, key_count = group_rows(strings_of(keys))
    names = keys.take(pa.array(first_rows(code, key_count))).combine_chunks()
    by_name = pc.sort_indices(names).to_numpy()
    place = np.empty(key_count, np.int64)
    place[by_name] = np.arange(key_count)
    return place[code], names.take(pa.array(by_name))


def _floor_lengths(indexer_pair: np.ndarray, floor_pair: np.ndarray, floors: pa.Array) -> np.ndarray:
    """Find the floor of each indexer, 0 if `start` omits it: int64[indexers]."""
    length = pc.struct_field(floors, "length").fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    by_pair = np.argsort(floor_pair, kind="stable")
    found, is_found = _look_up(floor_pair[by_pair], indexer_pair)
    floor = np.zeros(len(indexer_pair), np.int64)
    floor[is_found] = length[by_pair[found[is_found]]]
    return floor


def are_within_limit(bases: Bases) -> np.ndarray:
    """Say of each base whether its nodes times its indexers are at most `ENTRY_LIMIT`."""
    return np.diff(bases.start) * np.diff(bases.indexer_start) <= ENTRY_LIMIT


def split_views(bases: Bases, base: np.ndarray, top: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Split views into runs that fit into memory together; a larger view is a run of its own.

    Args:
        bases: The bases.
        base: int64[views], the base of each view.
        top: int64[views], see `extract_views`.

    Yields:
        Runs of both.
    """
    nodes, edges = np.diff(bases.start), np.diff(bases.edge_start[bases.start])
    # The size of its base bounds that of a view.
    entries = (nodes * (np.diff(bases.indexer_start) + 1) + edges)[base]
    chunk = (np.cumsum(entries) - entries) // VIEW_ENTRIES
    bounds = [0, *(np.flatnonzero(np.diff(chunk)) + 1), len(base)]
    for begin, end in pairwise(bounds):
        yield base[begin:end], top[begin:end]


def extract_views(bases: Bases, base: np.ndarray, top: np.ndarray) -> Views:
    """Extract views from their bases.

    Args:
        bases: The bases.
        base: int64[views], the base of each view.
        top: int64[views], a node of the base: the view is the node and its ancestors; or -1: all nodes.

    Returns:
        The views.
    """
    edges = EdgeRows(bases.start, bases.edge_start, bases.previous)
    return Views(*_extract_views(edges, bases.indexer_start, bases.floor, base, top))


def view_arrays(bases: Bases, views: Views) -> ViewArrays:
    """Take the columns that the rules in `RULES` need of some views."""
    return ViewArrays(
        views.start,
        views.edge_start,
        views.previous,
        bases.writer[views.node],
        bases.length[views.node],
        bases.batch[views.node],
        bases.indexer[views.node],
        bases.is_relayed[views.node],
        views.floor_start,
        views.floor,
    )


def _observers(bases: Bases, row_limit: int) -> tuple[np.ndarray, np.ndarray]:
    """List the views to order: the base and top node of each, by base, `ALL` first, then by writer."""
    nodes, count = len(bases.row), len(bases.start) - 1
    base = np.repeat(np.arange(count), np.diff(bases.start))
    is_last = np.ones(nodes, np.bool_)
    is_last[:-1] = (np.diff(base) != 0) | (np.diff(bases.writer) != 0)
    top = np.flatnonzero(is_last)
    writers = np.bincount(base[top], minlength=count)
    is_small = writers * np.diff(bases.start) <= row_limit
    top = top[is_small[base[top]]]
    all_base = np.concatenate([np.arange(count), base[top]])
    all_top = np.concatenate([np.full(count, _ALL_NODES), top])
    by_base = np.lexsort((all_top, all_base))
    return all_base[by_base], all_top[by_base]


def _flatten(column: pa.ChunkedArray) -> tuple[pa.Array, np.ndarray]:
    """Flatten lists; also int64[...], the list of each entry."""
    lists = column.combine_chunks()
    lists = lists if isinstance(lists, pa.Array) else pa.concat_arrays(lists.chunks)
    counts = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    return lists.flatten(), np.repeat(np.arange(len(counts)), counts)


def _look_up(ascending: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find values in an ascending array; of each its place, and whether it is present."""
    at = np.searchsorted(ascending, values)
    is_found = at < len(ascending)
    is_found[is_found] = ascending[at[is_found]] == values[is_found]
    return at, is_found


@compiled
def _extract_views(bases, indexer_start, floor, base, top):
    """Copy the nodes, edges and floors of views; the fields of `Views`."""
    base_start, start, previous = bases
    views = len(base)
    node_room, edge_room, largest = np.int64(0), np.int64(0), np.int64(0)
    view_start = np.zeros(views + 1, np.int64)
    floor_start = np.zeros(views + 1, np.int64)
    for v in range(views):
        begin, end = base_start[base[v]], base_start[base[v] + 1]
        node_room += end - begin
        edge_room += start[end] - start[begin]
        largest = max(largest, end - begin)
        floor_start[v + 1] = floor_start[v] + indexer_start[base[v] + 1] - indexer_start[base[v]]
    node = np.empty(node_room, np.int32)
    edge_start = np.zeros(node_room + 1, np.int64)
    edge = np.empty(edge_room, np.int32)
    floors = np.empty(floor_start[views], np.int64)
    # By node of the base: its place in the view, or -1.
    place = np.empty(largest, np.int32)
    stack = np.empty(largest, np.int32)
    nodes = 0
    edges = 0
    for v in range(views):
        begin, end = base_start[base[v]], base_start[base[v] + 1]
        place[: end - begin] = -1 if top[v] >= 0 else 0
        if top[v] >= 0:
            _mark_ancestors(top[v], begin, start, previous, place, stack)
        first = nodes
        for x in range(begin, end):
            if place[x - begin] >= 0:
                place[x - begin] = nodes
                node[nodes] = x
                nodes += 1
        for at in range(first, nodes):
            for e in range(start[node[at]], start[node[at] + 1]):
                edge[edges] = place[previous[e] - begin]
                edges += 1
            edge_start[at + 1] = edges
        view_start[v + 1] = nodes
        begin = indexer_start[base[v]]
        for f in range(floor_start[v], floor_start[v + 1]):
            floors[f] = floor[begin + f - floor_start[v]]
    return view_start, node[:nodes].copy(), edge_start[: nodes + 1].copy(), edge[:edges].copy(), floor_start, floors


@inner
def _mark_ancestors(top, begin, start, previous, place, stack):
    """Set `place` of a node and its ancestors to 0."""
    stack[0] = top
    place[top - begin] = 0
    size = 1
    while size > 0:
        size -= 1
        x = stack[size]
        for e in range(start[x], start[x + 1]):
            p = previous[e]
            if place[p - begin] < 0:
                place[p - begin] = 0
                stack[size] = p
                size += 1
