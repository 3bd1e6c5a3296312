"""Who is who: from strings to dense integers, exactly.

The kernels count nodes, they never see a string. A node's number says two things: nodes of one graph are neighbours,
and within a graph they stand in the order of their ids (by UTF-8 byte, which is the order of code points), so that
"ties by id" is a comparison of two integers.

Ids are matched by their bytes. Hash tables only narrow the search; what they hash with is drawn anew in every
process, so that an author cannot choose ids that collide.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.compiled import compiled, inner

MAX_ROWS = 2**31 - 1
# So many ids are compared at a time, which bounds the memory for where they begin.
_PIECE = 2**16
#: In one piece, in several, or in pieces that come one by one.
Column = pa.ChunkedArray | pa.Array | Iterable[pa.Array]


class Strings(NamedTuple):
    """A column of strings as arrays: `offsets` int64[n + 1] into `data` uint8[...], and `valid` bool[n]."""

    offsets: np.ndarray
    data: np.ndarray
    valid: np.ndarray


class Lists(NamedTuple):
    """A column of lists of strings: `starts` int64[n + 1] into `items`; a null list is an empty one."""

    starts: np.ndarray
    items: Strings


class Nodes(NamedTuple):
    """The rows of many graphs, numbered.

    Attributes:
        graph_start: int64[graphs + 1]; the nodes of graph g are graph_start[g] to graph_start[g + 1] - 1.
        row: int32[nodes]; the row each node came from. Within a graph, nodes ascend by id.
    """

    graph_start: np.ndarray
    row: np.ndarray


class Links(NamedTuple):
    """The edges between the nodes of many graphs.

    Attributes:
        start: int64[nodes + 1]; the edges of node n are start[n] to start[n + 1] - 1.
        previous: int32[edges]; the distinct candidates of its own graph that a candidate lists, in its own order.
            Roots and nodes that are not candidates have none.
        none_listed: bool[nodes]; a candidate, not a root, that lists nothing at all.
        some_missing: bool[nodes]; a candidate, not a root, that lists something that is not a candidate of its graph.
    """

    start: np.ndarray
    previous: np.ndarray
    none_listed: np.ndarray
    some_missing: np.ndarray


def strings_of(column: Column) -> Strings:
    """Lay a column of strings open.

    Args:
        column: A column of type string or large_string (others are cast), in any number of chunks. Of chunks that come
            one by one only their bytes are kept.

    Returns:
        Its bytes. Offsets are 64 bits wide, so a column may be longer than two gigabytes.
    """
    offsets, valid = [np.zeros(1, np.int64)], []
    chunks = _chunks(column)
    is_one = isinstance(chunks, list) and len(chunks) == 1
    data = bytearray()  # It grows where it is; many pieces would be there twice while they are joined.
    end = 0
    for chunk in chunks:
        if not (pa.types.is_string(chunk.type) or pa.types.is_large_string(chunk.type)):
            chunk = chunk.cast(pa.large_string())
        if len(chunk) == 0:
            continue
        width = np.int64 if pa.types.is_large_string(chunk.type) else np.int32
        _, offset_buffer, data_buffer = chunk.buffers()
        at = np.frombuffer(offset_buffer, width)[chunk.offset : chunk.offset + len(chunk) + 1].astype(np.int64)
        if data_buffer is not None:
            part = np.frombuffer(data_buffer, np.uint8)[at[0] : at[-1]]
            if is_one:
                data = part
            else:
                data.extend(part.data)
        offsets.append(at[1:] + (end - at[0]))
        valid.append(_valid(chunk))
        end = int(offsets[-1][-1])
    return Strings(np.concatenate(offsets), _frozen(np.frombuffer(data, np.uint8)), _joined(valid, np.bool_))


def lists_of(column: Column) -> Lists:
    """Lay a column of lists of strings open.

    Args:
        column: A column of type list<string> or large_list<string>, in any number of chunks, as of `strings_of`.

    Returns:
        Its lists. What lies below a null list is left out.
    """
    starts = [np.zeros(1, np.int64)]

    def flat(chunk: pa.Array) -> pa.Array:
        lengths = pc.list_value_length(chunk).fill_null(0).to_numpy().astype(np.int64)
        starts.append(np.cumsum(lengths) + starts[-1][-1])
        return chunk.flatten()

    chunks = _chunks(column)
    items = [flat(chunk) for chunk in chunks if len(chunk)] if isinstance(chunks, list) else map(flat, chunks)
    strings = strings_of(items)
    return Lists(np.concatenate(starts), strings)


def taken(strings: Strings, rows: np.ndarray) -> pa.Array:
    """Collect some strings anew. Arrow's own `take` stops at two gigabytes, and first makes one piece of all chunks.

    Args:
        strings: Some strings, none of them null.
        rows: int[...], which of them.
    """
    offsets, data = copied(strings, rows)
    return pa.LargeStringArray.from_buffers(len(rows), pa.py_buffer(offsets), pa.py_buffer(data))


def copied(strings: Strings, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Collect some strings anew, as arrays: int64[rows + 1] into uint8[...]."""
    return _copy_strings(strings.offsets, strings.data, rows)


def group_rows(*parts: Strings) -> tuple[np.ndarray, int]:
    """Number the graphs of a table.

    Args:
        parts: The columns that name each row's graph, one or two. Null is a value of its own.

    Returns:
        int32[rows], the graph of each row, and how many there are. Numbers follow the first appearance.

    Raises:
        OverflowError: There are more than 2^31 - 1 rows.
    """
    _check_size(len(parts[0].valid))
    while True:
        keys = _draw_keys()
        hashes = hash_strings(parts[-1], keys)
        for part in parts[:-1]:
            hashes ^= hash_strings(part, keys[::-1].copy())
        graph, first_row = _group(hashes)
        # Two values share all 64 bits about once in a lifetime. Then the dice are thrown again.
        if all(_all_alike(graph, first_row, *part) for part in parts):
            return graph, len(first_row)


def number_nodes(graph: np.ndarray, graph_count: int, ids: Strings) -> Nodes:
    """Number the rows of a table by graph, then by id.

    Sorting whole strings costs a second a million. Nearly always the first eight bytes behind what all ids have in
    common tell two ids of a graph apart: integers are sorted, and only the ties are looked at again.

    Args:
        graph: int32[rows], the graph of each row.
        graph_count: How many graphs there are.
        ids: The id of each row.

    Returns:
        The nodes. Rows that share graph and id (there should be none) stand next to each other.
    """
    keys = _prefix_keys(ids.offsets, ids.data, _common_prefix(ids.offsets, ids.data))
    graph_start, row = gather(np.argsort(keys), graph, graph_count)
    place, run = _tied(graph_start, row, keys)
    if len(place):
        rows = row[place]
        by_id = pc.sort_indices(taken(ids, rows)).to_numpy().astype(np.int64)
        row[place] = rows[by_id[np.argsort(run[by_id], kind="stable")]]
    return Nodes(graph_start, row)


def link(nodes: Nodes, ids: Strings, previous: Lists, candidate: np.ndarray, root: np.ndarray) -> Links:
    """Find the node behind every listed id.

    Args:
        nodes: The numbered rows.
        ids: The id of each row.
        previous: The list of each row; a null within a list counts as missing.
        candidate: bool[nodes]; the others can neither be found nor have links.
        root: bool[nodes]; what a root lists is ignored.

    Returns:
        The links.

    Raises:
        OverflowError: There are more than 2^31 - 1 listed ids.
    """
    found = look_up(nodes, ids, previous, candidate, root)
    return Links(*_join(candidate, root, previous.starts[nodes.row], previous.starts[nodes.row + 1], found))


def look_up(nodes: Nodes, ids: Strings, previous: Lists, candidate: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Find a node for each listed id.

    Args:
        nodes: The numbered rows.
        ids: The id of each row.
        previous: The list of each row.
        candidate: bool[nodes]; the others can neither be found nor does anything look for what they list.
        root: bool[nodes]; what a root lists is not looked for.

    Returns:
        int32[items], the node, or -1 where there is none; of candidates that share an id the first. One small hash
        table a graph is filled with hashes, and what it finds is compared with what was looked for afterwards, in the
        order in which it lies in memory.

    Raises:
        OverflowError: There are more than 2^31 - 1 listed ids.
    """
    _check_size(len(previous.items.valid))
    starts, items = previous
    list_start, list_end = starts[nodes.row], starts[nodes.row + 1]
    while True:
        keys = _draw_keys()
        hashes = hash_strings(ids, keys)[nodes.row]
        item_hashes = hash_strings(items, keys)
        found = _look_up(
            nodes.graph_start,
            nodes.row,
            candidate,
            root,
            hashes,
            ids.offsets,
            ids.data,
            list_start,
            list_end,
            item_hashes,
        )
        found[~items.valid] = -1
        if _are_found(found, nodes, ids, items):
            return found


def _are_found(found: np.ndarray, nodes: Nodes, ids: Strings, items: Strings) -> bool:
    """Check, byte by byte and piece by piece, that what was found is what was looked for."""
    for first in range(0, len(found), _PIECE):
        part = found[first : first + _PIECE]
        # Where each id begins is collected before it is read: then the processor waits for many of them at a time.
        at = nodes.row[part]
        offsets = items.offsets[first : first + len(part) + 1]
        if not _all_equal(part, ids.offsets[at], ids.offsets[at + 1], ids.data, offsets, items.data):
            return False
    return True


def number_ids(nodes: Nodes, ids: Strings) -> np.ndarray:
    """Number the distinct ids of each graph where several rows may share one.

    Args:
        nodes: The numbered rows.
        ids: The id of each row.

    Returns:
        int32[nodes]: equal for rows that share graph and id, ascending by graph, then id, without gaps.
    """
    return _number_ids(nodes.graph_start, nodes.row, ids.offsets, ids.data)


def hash_strings(strings: Strings, keys: np.ndarray) -> np.ndarray:
    """Hash each string of a column.

    Args:
        strings: The column.
        keys: uint64[2], secret, so that nobody can choose strings that collide.

    Returns:
        uint64[n].
    """
    return _hashes(*strings, keys)


def _draw_keys() -> np.ndarray:
    return np.frombuffer(secrets.token_bytes(16), np.uint64).copy()


def _check_size(rows: int) -> None:
    if rows > MAX_ROWS:
        raise OverflowError(f"{rows} entries in one partition; at most {MAX_ROWS} can be numbered")


def _chunks(column: Column) -> Iterable[pa.Array]:
    if isinstance(column, pa.ChunkedArray):
        return column.chunks
    return [column] if isinstance(column, pa.Array) else column


def _valid(chunk: pa.Array) -> np.ndarray:
    if chunk.null_count == 0:
        return np.ones(len(chunk), np.bool_)
    return chunk.is_valid().to_numpy(zero_copy_only=False)


def _joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype), *parts])


def _frozen(data: np.ndarray) -> np.ndarray:
    """Make an array read-only, as Arrow's own buffers are: numba compiles once a type, and that is part of it."""
    data = data.view()
    data.flags.writeable = False
    return data


@compiled
def _copy_strings(offsets, data, rows):
    out_offsets = np.zeros(len(rows) + 1, np.int64)
    for i in range(len(rows)):
        row = rows[i]
        out_offsets[i + 1] = out_offsets[i] + offsets[row + 1] - offsets[row]
    out = np.empty(out_offsets[-1], np.uint8)
    for i in range(len(rows)):
        at = offsets[rows[i]]
        to = out_offsets[i]
        for k in range(out_offsets[i + 1] - to):
            out[to + k] = data[at + k]
    return out_offsets, out


@inner
def _word(data, at):
    # Unsigned throughout: the compiler then sees one load of eight bytes.
    at = np.uint64(at)
    return (
        np.uint64(data[at])
        | np.uint64(data[at + np.uint64(1)]) << np.uint64(8)
        | np.uint64(data[at + np.uint64(2)]) << np.uint64(16)
        | np.uint64(data[at + np.uint64(3)]) << np.uint64(24)
        | np.uint64(data[at + np.uint64(4)]) << np.uint64(32)
        | np.uint64(data[at + np.uint64(5)]) << np.uint64(40)
        | np.uint64(data[at + np.uint64(6)]) << np.uint64(48)
        | np.uint64(data[at + np.uint64(7)]) << np.uint64(56)
    )


@inner
def _fold(a, b):
    """Multiply to 128 bits, and fold the halves."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a_low, a_high, b_low, b_high = a & low, a >> half, b & low, b >> half
    cross = a_high * b_low + (a_low * b_low >> half)
    middle = a_low * b_high + (cross & low)
    return (a * b) ^ (a_high * b_high + (cross >> half) + (middle >> half))


@compiled
def _hashes(offsets, data, valid, keys):
    n = len(valid)
    hashes = np.empty(n, np.uint64)
    first_key, second_key = keys
    for row in range(n):
        at, end = offsets[row], offsets[row + 1]
        value = np.uint64(end - at) << np.uint64(1) | np.uint64(valid[row])
        while end - at >= 8:
            value = _fold(_word(data, at) ^ first_key, value ^ second_key)
            at += 8
        rest = np.uint64(0)
        while at < end:
            rest = rest << np.uint64(8) | np.uint64(data[at])
            at += 1
        hashes[row] = _fold(_fold(rest ^ first_key, value ^ second_key) ^ second_key, first_key)
    return hashes


@inner
def _equal(data, at, end, other_data, other_at, other_end):
    if end - at != other_end - other_at:
        return False
    while end - at >= 8:
        if _word(data, at) != _word(other_data, other_at):
            return False
        at += 8
        other_at += 8
    while at < end:
        if data[at] != other_data[other_at]:
            return False
        at += 1
        other_at += 1
    return True


@compiled
def _group(hashes):
    """Number rows by their hash alone, and keep the first row of each number."""
    n = len(hashes)
    graph = np.empty(n, np.int32)
    first_row = np.empty(n, np.int32)
    known = np.empty(n, np.uint64)
    slots = np.full(1024, np.int32(-1))
    mask = np.uint64(len(slots) - 1)
    count = 0
    for row in range(n):
        slot = hashes[row] & mask
        while slots[slot] >= 0 and known[slots[slot]] != hashes[row]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = count
            known[count] = hashes[row]
            first_row[count] = row
            count += 1
        graph[row] = slots[slot]
        if 2 * count > len(slots):
            slots = np.full(4 * len(slots), np.int32(-1))
            mask = np.uint64(len(slots) - 1)
            for g in range(count):
                slot = known[g] & mask
                while slots[slot] >= 0:
                    slot = (slot + np.uint64(1)) & mask
                slots[slot] = g
    return graph, first_row[:count].copy()


@compiled
def _all_alike(graph, first_row, offsets, data, valid):
    for row in range(len(graph)):
        first = first_row[graph[row]]
        if valid[row] != valid[first] or not _equal(
            data, offsets[row], offsets[row + 1], data, offsets[first], offsets[first + 1]
        ):
            return False
    return True


@compiled
def _common_prefix(offsets, data):
    """Measure how many leading bytes all strings share."""
    n = len(offsets) - 1
    if n == 0:
        return np.int64(0)
    first = offsets[0]
    shared = offsets[1] - first
    for row in range(1, n):
        at = offsets[row]
        shared = min(shared, offsets[row + 1] - at)
        k = 0
        while k < shared and data[at + k] == data[first + k]:
            k += 1
        shared = k
    return shared


@compiled
def _prefix_keys(offsets, data, skip):
    """Make an integer of each string's next eight bytes: they sort as the strings do, or tie."""
    n = len(offsets) - 1
    keys = np.empty(n, np.uint64)
    for row in range(n):
        at = offsets[row] + skip
        length = min(offsets[row + 1] - at, 8)
        value = np.uint64(0)
        for k in range(8):
            value <<= np.uint64(8)
            if k < length:
                value |= np.uint64(data[at + k])
        keys[row] = value
    return keys


@compiled
def gather(order, graph, graph_count):
    """Bring the rows of a graph together, and keep the order within: a counting sort.

    Args:
        order: int[rows], each row once.
        graph: int32[rows], what each row is to be sorted by.
        graph_count: How many graphs there are.

    Returns:
        int64[graphs + 1] into int32[rows], the rows of each graph.
    """
    n = len(graph)
    start = np.zeros(graph_count + 1, np.int64)
    for row in range(n):
        start[graph[row] + 1] += 1
    for g in range(graph_count):
        start[g + 1] += start[g]
    fill = start[:-1].copy()
    rows = np.empty(n, np.int32)
    for i in range(n):
        row = order[i]
        g = graph[row]
        rows[fill[g]] = row
        fill[g] += 1
    return start, rows


@compiled
def _number_ids(graph_start, row, offsets, data):
    number = np.empty(len(row), np.int32)
    count = np.int32(-1)
    for g in range(len(graph_start) - 1):
        for node in range(graph_start[g], graph_start[g + 1]):
            at, before = row[node], row[node - 1]
            if node == graph_start[g] or not _equal(
                data, offsets[at], offsets[at + 1], data, offsets[before], offsets[before + 1]
            ):
                count += 1
            number[node] = count
    return number


@compiled
def _tied(graph_start, row, keys):
    """List the nodes whose key another node of the graph shares, and the number of the run they are in."""
    n = len(row)
    count = 0
    place = np.empty(n, np.int64)
    run = np.empty(n, np.int64)
    runs = 0
    for g in range(len(graph_start) - 1):
        end = graph_start[g + 1]
        node = graph_start[g]
        while node < end:
            stop = node + 1
            while stop < end and keys[row[stop]] == keys[row[node]]:
                stop += 1
            if stop - node > 1:
                for tied in range(node, stop):
                    place[count] = tied
                    run[count] = runs
                    count += 1
                runs += 1
            node = stop
    return place[:count].copy(), run[:count].copy()


@compiled
def _look_up(graph_start, row, candidate, root, hashes, id_offsets, id_data, list_start, list_end, item_hashes):
    """Find a node for each listed id, by its hash alone. Nothing is found for what is not looked up (-1)."""
    largest = 0
    for g in range(len(graph_start) - 1):
        largest = max(largest, graph_start[g + 1] - graph_start[g])
    size = 2
    while size < 2 * largest:
        size *= 2
    slots = np.empty(size, np.int32)
    found = np.full(len(item_hashes), np.int32(-1))
    for g in range(len(graph_start) - 1):
        first, end = graph_start[g], graph_start[g + 1]
        size = 2
        while size < 2 * (end - first):
            size *= 2
        mask = np.uint64(size - 1)
        slots[:size] = -1
        for node in range(first, end):
            if not candidate[node]:
                continue
            slot = hashes[node] & mask
            while slots[slot] >= 0:
                if hashes[slots[slot]] == hashes[node]:
                    at, other = row[node], row[slots[slot]]
                    if _equal(
                        id_data, id_offsets[at], id_offsets[at + 1], id_data, id_offsets[other], id_offsets[other + 1]
                    ):
                        break
                slot = (slot + np.uint64(1)) & mask
            if slots[slot] < 0:
                slots[slot] = node
        for node in range(first, end):
            if not candidate[node] or root[node]:
                continue
            for item in range(list_start[node], list_end[node]):
                slot = item_hashes[item] & mask
                while slots[slot] >= 0 and hashes[slots[slot]] != item_hashes[item]:
                    slot = (slot + np.uint64(1)) & mask
                found[item] = slots[slot]
    return found


@compiled
def _all_equal(found, id_at, id_end, id_data, item_offsets, item_data):
    """Check, byte by byte, that what was found is what was looked for."""
    for item in range(len(found)):
        if found[item] >= 0 and not _equal(
            id_data, id_at[item], id_end[item], item_data, item_offsets[item], item_offsets[item + 1]
        ):
            return False
    return True


@compiled
def _join(candidate, root, list_start, list_end, found):
    n = len(candidate)
    seen_by = np.full(n, np.int32(-1))
    start = np.zeros(n + 1, np.int64)
    previous = np.empty(len(found), np.int32)
    none_listed = np.zeros(n, np.bool_)
    some_missing = np.zeros(n, np.bool_)
    count = 0
    for node in range(n):
        if candidate[node] and not root[node]:
            none_listed[node] = list_start[node] == list_end[node]
            for item in range(list_start[node], list_end[node]):
                p = found[item]
                if p < 0:
                    some_missing[node] = True
                elif seen_by[p] != node:
                    seen_by[p] = node
                    previous[count] = p
                    count += 1
        start[node + 1] = count
    return start, previous[:count].copy(), none_listed, some_missing
