"""Numbers the nodes of many bases by base, then writer, then length."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.autobase.base_graphs import Graphs
from dbt_tangles.columns.arrays import first_rows, starts
from dbt_tangles.columns.dense_ids import Nodes, group_rows
from dbt_tangles.columns.links import link
from dbt_tangles.columns.strings import lists_of, strings_of
from dbt_tangles.kernel_runtime.row_schema import Int32


class Length(NamedTuple):
    """The length of a writer's log that was settled before."""

    writer: str
    length: Int32


class Member(NamedTuple):
    """A member node of a base. The nodes are consistent: all previous nodes are present, without a cycle."""

    base_id: str
    node_id: str  # Unique in its base
    writer: str
    length: Int32
    previous: list[str] | None  # The ids of all previous nodes, the writer's own one included
    batch: Int32  # The number of nodes left in its batch, this one included
    is_relayed: bool
    indexers: list[str] | None  # The writers whose nodes are votes; this and `start` are set on one row of the base
    start: list[Length] | None


class NumberedBases(NamedTuple):
    """The nodes of many bases."""

    graphs: Graphs  # The nodes and edges; a writer is its place in `names`
    row: np.ndarray  # int32[nodes], the input row of each node
    indexer_name: np.ndarray  # int64[indexers of all bases], the place of each in `names`; ascending within a base
    names: pa.Array  # The keys of all writers, ascending


def number_bases(table: pa.Table) -> NumberedBases:
    """Number the nodes of many bases.

    Args:
        table: Rows of `Member` in any order, whole bases only.

    Returns:
        The bases, in the order of their first rows.

    Raises:
        ValueError: A writer in a list is null, a node occurs twice, a previous node is missing, or an indexer's log has
            a gap or does not begin where `start` ends.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    base, base_count = group_rows(strings_of(table["base_id"]))
    indexers, indexer_base, floors, floor_base = _base_columns(table, base, base_count)
    place, names = _place_writers([*table["writer"].chunks, indexers, pc.struct_field(floors, "writer")])
    writer, indexer_place, floor_place = np.split(place, [len(table), len(table) + len(indexers)])
    length = table["length"].to_numpy().astype(np.int64)
    row = np.lexsort((length, writer, base)).astype(np.int32)
    start = starts(np.bincount(base, minlength=base_count))
    base, writer, length = base[row], writer[row], length[row]
    is_first = np.append(True, (np.diff(base) != 0) | (np.diff(writer) != 0))
    alike = ~is_first[1:] & (np.diff(length) == 0)
    if alike.any():
        at = int(row[np.argmax(alike)])
        raise ValueError(f"node {table['node_id'][at]} is in base {table['base_id'][at]} twice; pass each node once")

    # A pair of a base and a writer is one integer.
    key_count = len(names)
    indexer_pair = np.unique(indexer_base * key_count + indexer_place)
    floor = _floor_lengths(indexer_pair, floor_base * key_count + floor_place, floors)
    indexer_start = np.searchsorted(indexer_pair, np.arange(base_count + 1) * key_count).astype(np.int64)
    found, is_found = _look_up(indexer_pair, base * np.int64(key_count) + writer)
    number = np.arange(len(row))
    counted = number - np.maximum.accumulate(np.where(is_first, number, 0)) + 1
    if (length != np.append(floor, 0)[found] + counted)[is_found].any():
        raise ValueError("an indexer's log has a hole, or is not above its floor; pass all nodes above the floor")

    every = np.ones(len(table), np.bool_)
    links = link(Nodes(start, row), strings_of(table["node_id"]), lists_of(table["previous"]), every, ~every)
    _refuse_missing(table, row[links.some_missing])
    graphs = Graphs(
        start,
        links.start,
        links.previous,
        writer.astype(np.int32),
        table["batch"].to_numpy().astype(np.int32)[row],
        np.where(is_found, found - indexer_start[base], -1).astype(np.int32),
        table["is_relayed"].to_numpy()[row],
        indexer_start,
    )
    return NumberedBases(graphs, row, indexer_pair % max(key_count, 1), names)


def _refuse_missing(table: pa.Table, row: np.ndarray) -> None:
    """Refuse the nodes of some rows, because previous nodes of theirs are missing."""
    for at in map(int, row[:1]):
        node = f"node {table['node_id'][at]} of base {table['base_id'][at]}"
        raise ValueError(f"{node} follows what is not there; pass all nodes that it lists")


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
