"""Lists the changes of each writer's view at each node of its log: undone, appended and settled nodes.

Under the rule of `consensus`, each log is followed once (`following`). Under the rule of `design`, a settled node can
be contradicted later, so each view is ordered from scratch, for small bases only.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase import bases as tables
from dbt_tangles.algorithms.autobase import design, following
from dbt_tangles.algorithms.autobase.bases import (
    AUTOBASE,
    DESIGN,
    RULES,
    Bases,
    Views,
    extract_views,
    number_bases,
    split_views,
    view_arrays,
)
from dbt_tangles.algorithms.autobase.clocks import index_views
from dbt_tangles.algorithms.autobase.contenders import contenders
from dbt_tangles.algorithms.autobase.following import LogChanges, Logs, follow_writers
from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH
from dbt_tangles.kernel_runtime.compiled import compiled

CHANGE_SCHEMA = pa.schema(
    [
        ("base_id", pa.string()),
        ("observer", pa.string()),
        ("at_node", pa.string()),
        ("old_length", pa.int32()),
        ("kept", pa.int32()),
        ("undone", pa.int32()),
        ("appended", pa.int32()),
        ("settled", pa.list_(pa.struct([("node_id", pa.string()), ("contender", pa.string())]))),
        ("left_out", pa.int32()),
    ]
)

#: The most nodes times indexers of a base whose writers are followed; each takes about 30 bytes.
FOLLOW_LIMIT = 2**23

#: The most nodes of a base whose writers are followed by the rule of the design document.
DESIGN_FOLLOW_LIMIT = 200


def changes_of_bases(table: pa.Table, row_limit: int, rule: str = AUTOBASE) -> Iterator[pa.RecordBatch]:
    """Follow the writers of many bases through their logs.

    A writer's view at one of its nodes is the node and its ancestors, ordered as by `bases.order_bases`; before its
    first node it is empty.

    Args:
        table: As for `bases.order_bases`.
        row_limit: The most writers times nodes of a base whose writers are followed.
        rule: `bases.AUTOBASE` or `bases.DESIGN`.

    Yields:
        Rows of `CHANGE_SCHEMA`, one for each node `at_node` at which part of its writer's view was undone or settled:
        `old_length` of the view before, `kept` from its beginning, `undone` the rest of it, `appended` behind the kept
        part; `settled`, the newly settled nodes in order, each with its contender (see `contenders.contenders`) or
        null. Also one row for each writer that is not followed to its end: `left_out` nodes from `at_node` on, an empty
        `settled`, and null in the other columns.

    Raises:
        ValueError: The rule is unknown, or as `bases.order_bases`.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    if rule not in RULES:
        raise ValueError(f"no rule is called {rule!r}; there are {', '.join(RULES)}")
    if not len(table):
        return
    bases = number_bases(table)
    nodes = np.diff(bases.start)
    first, view = _logs(bases)
    end = np.append(first[1:], len(bases.row))
    writers = np.bincount(view, minlength=len(nodes))
    is_in_reach = (writers * nodes <= row_limit) & (nodes * np.diff(bases.indexer_start) <= FOLLOW_LIMIT)
    if rule == DESIGN:
        is_in_reach &= nodes <= DESIGN_FOLLOW_LIMIT
    beyond = ~is_in_reach[view]
    yield from _change_rows(table, bases, _no_changes(), np.empty(0, np.int32), first[beyond], (end - first)[beyond])
    in_reach = np.flatnonzero(is_in_reach)
    if not len(in_reach):
        return
    for base, top in split_views(bases, in_reach, np.full(len(in_reach), -1)):
        if rule == DESIGN:
            followed, contender = _reorder_each_view(bases, base)
            yield from _change_rows(table, bases, followed, contender, first[:0], first[:0])
            continue
        chosen = np.flatnonzero(np.isin(view, base))
        yield from _follow_chunks(table, bases, base, top, first[chosen], end[chosen], view[chosen])


def _logs(bases: Bases) -> tuple[np.ndarray, np.ndarray]:
    """Find the first node of each writer's log, and its base."""
    base = np.repeat(np.arange(len(bases.start) - 1), np.diff(bases.start))
    is_first = np.ones(len(bases.row), np.bool_)
    is_first[1:] = (np.diff(base) != 0) | (np.diff(bases.writer) != 0)
    first = np.flatnonzero(is_first)
    return first, base[first]


def _no_changes() -> LogChanges:
    none = np.empty(0, np.int32)
    return LogChanges(none, none, none, none, np.zeros(1, np.int64), none, none)


def _follow_chunks(
    table: pa.Table,
    bases: Bases,
    base: np.ndarray,
    top: np.ndarray,
    first: np.ndarray,
    end: np.ndarray,
    log_base: np.ndarray,
) -> Iterator[pa.RecordBatch]:
    """Follow the writers of some bases, in chunks of bounded memory."""
    views = extract_views(bases, base, top)
    indexed, _ = index_views(view_arrays(bases, views))
    log_view = np.searchsorted(base, log_base)
    shift = views.start[log_view] - bases.start[log_base]
    sizes = np.diff(bases.start)[log_base]
    chunk = (np.cumsum(sizes) - sizes) // tables.VIEW_ENTRIES
    for at in np.split(np.arange(len(first)), np.flatnonzero(np.diff(chunk)) + 1):
        logs = Logs(log_view[at], (first + shift)[at], (end + shift)[at])
        followed = follow_writers(indexed, logs, following.STEPS_PER_NODE, following.MORE_STEPS)
        node = views.node
        found = LogChanges(
            node[followed.node],
            followed.old_length,
            followed.kept,
            followed.length,
            followed.settled_start,
            node[followed.settled],
            followed.left_out,
        )
        contender = _contenders_of(bases, views, found.node, found.settled_start, found.settled)
        cut = np.flatnonzero(followed.left_out)
        left_out = followed.left_out[cut]
        yield from _change_rows(table, bases, found, contender, end[at][cut] - left_out, left_out)


def _reorder_each_view(bases: Bases, base: np.ndarray) -> tuple[LogChanges, np.ndarray]:
    """Order the view of each node of some bases, and compare it with the view of its writer's previous node."""
    sizes = np.diff(bases.start)[base]
    view_base = np.repeat(base, sizes)
    top = np.concatenate([np.arange(bases.start[b], bases.start[b + 1]) for b in base])
    parts = [_compare_views(bases, *part) for part in _whole_bases(bases, view_base, top)]
    columns = [np.concatenate(column) for column in zip(*(part[:4] for part in parts), strict=True)]
    counts = np.concatenate([np.diff(part[4]) for part in parts])
    settled = np.concatenate([part[5] for part in parts])
    contender = np.concatenate([part[6] for part in parts])
    starts = np.append(0, np.cumsum(counts)).astype(np.int64)
    return LogChanges(*columns, starts, settled, np.empty(0, np.int32)), contender


def _whole_bases(bases: Bases, view_base: np.ndarray, top: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Split views so that those of a base stay together; the bases are small."""
    nodes, edges = np.diff(bases.start), np.diff(bases.edge_start[bases.start])
    entries = (nodes * (np.diff(bases.indexer_start) + 1) + edges)[view_base]
    chunk = ((np.cumsum(entries) - entries) // tables.VIEW_ENTRIES).astype(np.int64)
    first_of_base = np.searchsorted(view_base, view_base)
    chunk = chunk[first_of_base]
    for at in np.split(np.arange(len(top)), np.flatnonzero(np.diff(chunk)) + 1):
        yield view_base[at], top[at]


def _compare_views(bases: Bases, view_base: np.ndarray, top: np.ndarray) -> tuple[np.ndarray, ...]:
    views = extract_views(bases, view_base, top)
    order, placed, confirmed = design.order_views(view_arrays(bases, views))
    order = np.where(order >= 0, views.node[order], -1)
    ordered = _Ordered(views.start, order, placed, confirmed)
    compared = _compare(ordered, view_base, bases.writer[top], top, len(bases.row))
    # Views are numbered as nodes: the views of a base are neighbours, and so are those of a log.
    base = view_base[np.append(True, np.diff(view_base) != 0)]
    whole = extract_views(bases, base, np.full(len(base), -1))
    return *compared, _contenders_of(bases, whole, *(compared[at] for at in (0, 4, 5)))


def _contenders_of(
    bases: Bases, views: Views, at_node: np.ndarray, settled_start: np.ndarray, settled: np.ndarray
) -> np.ndarray:
    """Find contenders in whole bases; all of them as nodes of the bases."""
    place = np.full(len(bases.row), -1, np.int64)
    place[views.node] = np.arange(len(views.node))
    at = np.repeat(at_node, np.diff(settled_start))
    is_later = (place[at - 1] >= 0) & (bases.writer[at - 1] == bases.writer[at]) & (at > 0)
    is_later &= np.searchsorted(bases.start, at - 1, "right") == np.searchsorted(bases.start, at, "right")
    found = contenders(
        views.start,
        views.edge_start,
        views.previous,
        bases.indexer[views.node],
        views.floor_start,
        place[settled],
        np.where(is_later, place[at - 1], -1),
    )
    return np.where(found >= 0, views.node[found], -1)


class _Ordered(NamedTuple):
    """Ordered views: `order` holds nodes of the bases, the rest is as in `design.order_views`."""

    view_start: np.ndarray
    order: np.ndarray
    placed: np.ndarray
    confirmed: np.ndarray


@compiled
def _compare(ordered, view_base, writer, top, nodes):
    """Compare each view with the one before in its writer's log; the fields of `LogChanges` but `left_out`."""
    view_start, order, placed, confirmed = ordered
    views = len(placed)
    found = np.empty((4, views), np.int32)
    settled_start = np.zeros(views + 1, np.int64)
    settled = np.empty(len(order), np.int32)
    # By node: the log that settled it last, given by the view of its first node.
    settled_in = np.full(nodes, np.int64(-1))
    changes = 0
    log = np.int64(0)
    for v in range(views):
        is_later = v > 0 and view_base[v] == view_base[v - 1] and writer[v] == writer[v - 1]
        if not is_later:
            log = v
        old = placed[v - 1] if is_later else 0
        kept = 0
        while kept < min(old, placed[v]) and order[view_start[v - 1] + kept] == order[view_start[v] + kept]:
            kept += 1
        count = settled_start[changes]
        for i in range(view_start[v], view_start[v] + confirmed[v]):
            if settled_in[order[i]] != log:
                settled_in[order[i]] = log
                settled[count] = order[i]
                count += 1
        if kept < old or count > settled_start[changes]:
            found[0, changes] = top[v]
            found[1, changes] = old
            found[2, changes] = kept
            found[3, changes] = placed[v]
            changes += 1
            settled_start[changes] = count
    found = found[:, :changes].copy()
    count = settled_start[changes]
    return found[0], found[1], found[2], found[3], settled_start[: changes + 1].copy(), settled[:count].copy()


def _change_rows(
    table: pa.Table,
    bases: Bases,
    followed: LogChanges,
    contender: np.ndarray,
    cut: np.ndarray,
    left_out: np.ndarray,
) -> Iterator[pa.RecordBatch]:
    """Make rows of changes, and of the first nodes that were left out, both as nodes of the bases."""
    names, count = bases.names, len(cut)
    starts = np.append(followed.settled_start, np.full(count, followed.settled_start[-1]))
    node = np.append(followed.node, cut)
    nothing = np.zeros(count, np.int32)
    old, kept, length = (np.append(c, nothing) for c in (followed.old_length, followed.kept, followed.length))
    is_cut = np.arange(len(node)) >= len(followed.node)
    left_out = np.append(np.zeros(len(followed.node), np.int32), left_out)
    for begin in range(0, len(node), ROWS_PER_BATCH):
        at = slice(begin, begin + ROWS_PER_BATCH)
        row = pa.array(bases.row[node[at]])
        bounds = starts[begin : begin + len(row) + 1]
        inside = slice(bounds[0], bounds[-1])
        beside = contender[inside]
        settled = pa.StructArray.from_arrays(
            [
                _ids(table, bases.row[followed.settled[inside]]),
                _ids(table, np.where(beside >= 0, bases.row[beside], -1)),
            ],
            ["node_id", "contender"],
        )
        columns = [
            table["base_id"].take(row),
            names.take(pa.array(bases.writer[node[at]])),
            table["node_id"].take(row),
            *(pa.array(c[at], pa.int32(), mask=is_cut[at]) for c in (old, kept, old - kept, length - kept)),
            pa.ListArray.from_arrays(pa.array((bounds - bounds[0]).astype(np.int32)), settled),
            pa.array(left_out[at], pa.int32()),
        ]
        yield from pa.table(columns, CHANGE_SCHEMA.names).cast(CHANGE_SCHEMA).combine_chunks().to_batches()


def _ids(table: pa.Table, row: np.ndarray) -> pa.Array:
    """Name nodes by their rows; -1 is null."""
    ids = table["node_id"].take(pa.array(row, pa.int64(), mask=row < 0)).cast(pa.string())
    return ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
