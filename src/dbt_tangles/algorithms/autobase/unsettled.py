"""The nodes of bases that are not settled: the reason, and the fewest next nodes that would settle each.

Source: autobase 7.28.1; the design document of Autobase, Quorums to Tails, Forks and Merges.
"""

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase import design
from dbt_tangles.algorithms.autobase.bases import (
    AUTOBASE,
    DESIGN,
    INPUT_SCHEMA,
    RULES,
    Bases,
    are_within_limit,
    extract_views,
    number_bases,
    split_views,
    view_arrays,
)
from dbt_tangles.algorithms.autobase.clocks import causal_order, depths
from dbt_tangles.algorithms.autobase.fewest_nodes import Searched, search
from dbt_tangles.algorithms.autobase.heads import heads
from dbt_tangles.algorithms.autobase.next_nodes import MAX_INT32, Sequence, Window, WindowNodes, Writer
from dbt_tangles.algorithms.autobase.views import ViewArrays
from dbt_tangles.algorithms.autobase.waiting import waiting
from dbt_tangles.algorithms.autobase.windows import Order, cut_windows, settled_nodes
from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH

#: `bases.INPUT_SCHEMA`, and the writers that cannot continue, on any row of the base.
UNSETTLED_INPUT_SCHEMA = pa.schema([*INPUT_SCHEMA, ("stopped", pa.list_(pa.string()))])
UNSETTLED_SCHEMA = pa.schema(
    [
        ("base_id", pa.string()),
        ("node_id", pa.string()),
        ("reason", pa.string()),
        ("contender", pa.string()),
        ("awaited_merge", pa.string()),
        ("missing_writers", pa.list_(pa.string())),
        ("would_settle", pa.list_(pa.struct([("writer", pa.string()), ("heads", pa.list_(pa.string()))]))),
        ("is_fewest", pa.bool_()),
    ]
)

#: By number, see `waiting`.
REASONS = ("needs_votes", "contender", "awaits_merge")

#: A base with more indexers, a larger window, or more unsettled nodes times heads is not searched for next nodes.
SEARCH_INDEXERS, SEARCH_NODES, SEARCH_HEADS = 15, 2_000, 100_000


class _Part(NamedTuple):
    """Some whole bases."""

    bases: Bases  # All bases
    base: np.ndarray  # int64[views], the base of each view
    views: ViewArrays  # The bases as views
    row: np.ndarray  # int32[nodes], the input row of each node
    node_id: pa.ChunkedArray  # The id of each input row
    settled: np.ndarray  # bool[nodes]
    is_head: np.ndarray  # bool[nodes]
    windows: ViewArrays  # The windows
    node: np.ndarray  # int64[nodes of the windows], the node that each is

    def id_of(self, node: int) -> str | None:
        """Return the id of a node, or None for -1."""
        return self.node_id[int(self.row[node])].as_py() if node >= 0 else None

    def key_of(self, place: int) -> str:
        """Return the key of a writer."""
        return self.bases.names[int(place)].as_py()


def unsettled_of_bases(table: pa.Table, rule: str = AUTOBASE) -> Iterator[pa.RecordBatch]:
    """Find out why nodes are not settled for an observer with all nodes.

    Args:
        table: As for `bases.order_bases`, with the columns of `UNSETTLED_INPUT_SCHEMA`. Bases that the rule does not
            order are left out.
        rule: A rule of `bases.RULES`.

    Yields:
        Rows of `UNSETTLED_SCHEMA`, one for each node that is not settled. `would_settle` are nodes that may be
        published one after another, each with the ids of its heads, earlier ones among them; null without such nodes,
        or the base is beyond `SEARCH_INDEXERS`, `SEARCH_NODES` or `SEARCH_HEADS`. `is_fewest` says that all shorter
        sequences of `next_nodes` were tried; null without `would_settle`.

    Raises:
        ValueError: As `bases.order_bases`.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    if rule not in RULES:
        raise ValueError(f"no rule is called {rule!r}; there are {', '.join(RULES)}")
    if not len(table):
        return
    bases = number_bases(table)
    is_in_reach = are_within_limit(bases)
    if rule == DESIGN:
        is_in_reach &= np.diff(bases.start) <= design.DESIGN_LIMIT
    in_reach = np.flatnonzero(is_in_reach)
    if not len(in_reach):
        return
    stopped = _stopped_writers(table)
    for base, top in split_views(bases, in_reach, np.full(len(in_reach), -1)):
        part = _order(table, bases, base, top, rule)
        first = part.row[part.views.view_start[:-1]]
        rows = _rows(part, table["base_id"].take(pa.array(first)).to_pylist(), stopped, rule)
        while some := list(islice(rows, ROWS_PER_BATCH)):
            yield pa.RecordBatch.from_pylist(some, UNSETTLED_SCHEMA)


def _stopped_writers(table: pa.Table) -> dict[str, set[str]]:
    """Return the writers of each base that cannot continue their logs."""
    rows = table.select(["base_id", "stopped"]).filter(table["stopped"].is_valid()).to_pylist()
    return {row["base_id"]: set(row["stopped"]) for row in rows}


def _order(table: pa.Table, bases: Bases, base: np.ndarray, top: np.ndarray, rule: str) -> _Part:
    """Order some bases, and cut their windows."""
    views = extract_views(bases, base, top)
    arrays = view_arrays(bases, views)
    order = Order(*RULES[rule](arrays))
    settled = settled_nodes(arrays.view_start, order)
    causal = causal_order(arrays.view_start, depths(arrays.view_start, arrays.start, arrays.previous))
    is_head = heads(arrays.start, arrays.previous, arrays.batch, arrays.is_relayed, causal)
    row = bases.row[views.node]
    windows, node = cut_windows(arrays, order)
    return _Part(bases, base, arrays, row, table["node_id"].combine_chunks(), settled, is_head, windows, node)


def _rows(part: _Part, base_ids: list[str], stopped: dict[str, set[str]], rule: str) -> Iterator[dict]:
    """Yield the rows of some bases."""
    found = waiting(part.views, part.settled)
    reason = found.reason
    view_of = np.searchsorted(part.views.view_start, found.node, "right") - 1
    left = [int(v) for v in np.unique(view_of)]
    searched = [Searched(v, w, {}) for v in left if (w := _window(part, v, stopped.get(base_ids[v], set())))]
    proven = search(part.windows, searched, rule)
    by_view = {each.number: (each, length) for each, length in zip(searched, proven, strict=True)}
    indexer_name = part.bases.indexer_name
    local = np.cumsum(_in_windows(part)) - 1
    for at, (x, v) in enumerate(zip(found.node.tolist(), view_of.tolist(), strict=True)):
        missing = found.missing[found.missing_start[at] : found.missing_start[at + 1]]
        first = part.bases.indexer_start[part.base[v]]
        each, length = by_view.get(v, (None, 0))
        drafts = each and each.drafts.get(int(local[x] - part.windows.view_start[v]))
        yield {
            "base_id": base_ids[v],
            "node_id": part.id_of(x),
            "reason": REASONS[reason[at]],
            "contender": part.id_of(found.contender[at]),
            "awaited_merge": part.id_of(found.merge[at]),
            "missing_writers": [part.key_of(place) for place in indexer_name[first + missing]],
            "would_settle": drafts and _next_nodes(part, each, drafts),
            "is_fewest": drafts and len(drafts) <= length,
        }


def _in_windows(part: _Part) -> np.ndarray:
    """Mark the nodes of windows: bool[nodes]."""
    is_there = np.zeros(len(part.row), np.bool_)
    is_there[part.node] = True
    return is_there


def _window(part: _Part, v: int, stopped: set[str]) -> Window | None:
    """Make the window of a view, or None beyond the limits."""
    windows = part.windows
    begin, end = windows.view_start[v], windows.view_start[v + 1]
    node = part.node[begin:end]
    unsettled = np.flatnonzero(~part.settled[node])
    outer = _outer_heads(part, v)
    first, last = part.bases.indexer_start[part.base[v]], part.bases.indexer_start[part.base[v] + 1]
    head_count = len(outer) + int(part.is_head[node].sum())
    indexers = int(last - first)
    if indexers > SEARCH_INDEXERS or end - begin > SEARCH_NODES or head_count * len(unsettled) > SEARCH_HEADS:
        return None
    start = windows.start[begin : end + 1]
    previous = (windows.previous[start[0] : start[-1]] - begin).tolist()
    bounds = (start - start[0]).tolist()
    nodes = WindowNodes(
        [previous[one:other] for one, other in pairwise(bounds)],
        ((windows.batch[begin:end] == 1) & ~windows.is_relayed[begin:end]).tolist(),
        windows.indexer[begin:end].tolist(),
    )
    return Window(nodes, unsettled.tolist(), len(outer), _writers(part, v, stopped), indexers)


def _outer_heads(part: _Part, v: int) -> list[int]:
    """List the heads of a view outside of its window."""
    begin, end = part.views.view_start[v], part.views.view_start[v + 1]
    there = np.flatnonzero(part.is_head[begin:end]) + begin
    inner = part.node[part.windows.view_start[v] : part.windows.view_start[v + 1]]
    return np.setdiff1d(there, inner, assume_unique=True).tolist()


def _writers(part: _Part, v: int, stopped: set[str]) -> list[Writer]:
    """List the writers that may publish: indexers, and other writers within a batch."""
    views, windows, bases = part.views, part.windows, part.bases
    begin, end = views.view_start[v], views.view_start[v + 1]
    is_last = np.ones(end - begin, np.bool_)
    is_last[:-1] = np.diff(views.writer[begin:end]) != 0
    lasts = {int(views.writer[x]): int(x) for x in np.flatnonzero(is_last) + begin}
    first, behind = bases.indexer_start[part.base[v]], bases.indexer_start[part.base[v] + 1]
    floors = dict(zip(bases.indexer_name[first:behind].tolist(), bases.floor[first:behind].tolist(), strict=True))
    number = {place: at for at, place in enumerate(floors)}
    inner = part.node[windows.view_start[v] : windows.view_start[v + 1]]
    found = []
    for place in sorted({*floors, *lasts}):
        x = lasts.get(place, -1)
        left = int(views.batch[x]) - 1 if x >= 0 else 0
        length = int(views.length[x]) if x >= 0 else floors[place]
        is_able = place in number or (left > 0 and not views.is_relayed[x])
        if is_able and length < MAX_INT32 and part.key_of(place) not in stopped:
            at = int(np.searchsorted(inner, x)) if x >= 0 else len(inner)
            local = at if at < len(inner) and inner[at] == x else -1
            found.append(Writer(place, number.get(place, -1), length + 1, left, local))
    return found


def _next_nodes(part: _Part, searched: Searched, drafts: Sequence) -> list[dict]:
    """Write drafts as the fields of next nodes."""
    window = searched.window
    begin = part.windows.view_start[searched.number]
    keys = [part.key_of(window.writers[draft.writer].place) for draft in drafts]

    def id_of(x: int) -> str:
        if x < window.size:
            return part.id_of(part.node[begin + x])
        if x < window.size + window.outer:
            return part.id_of(_outer_heads(part, searched.number)[x - window.size])
        at = x - window.size - window.outer
        return f"{keys[at]}:{drafts[at].length}"

    return [{"writer": key, "heads": sorted(map(id_of, draft.heads))} for key, draft in zip(keys, drafts, strict=True)]
