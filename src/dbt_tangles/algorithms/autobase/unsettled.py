"""The nodes of bases that are not settled: the reason, and the fewest next nodes that would settle each.

Source: autobase 7.28.1; the design document of Autobase, Quorums to Tails, Forks and Merges.
"""

from collections.abc import Iterator
from itertools import chain, islice, pairwise

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase.fewest_nodes import search
from dbt_tangles.algorithms.autobase.next_nodes import MAX_INT32, Sequence, Window, Writer
from dbt_tangles.algorithms.autobase.result_rows import ALL, RESULT_SCHEMA, Part
from dbt_tangles.algorithms.autobase.rules import RULES
from dbt_tangles.algorithms.autobase.waiting import waiting
from dbt_tangles.algorithms.autobase.windows import Order, Windows, cut_windows, settled_nodes
from dbt_tangles.kernel_runtime.output import ROWS_PER_BATCH

#: A base with more indexers, a larger window, or more unsettled nodes times heads is not searched for next nodes.
SEARCH_INDEXERS, SEARCH_NODES, SEARCH_HEADS = 15, 2_000, 100_000


def unsettled_rows(part: Part, rule: str, base: np.ndarray, is_head: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Make a row for each node that is not settled for an observer with all nodes.

    `would_settle` are nodes that may be published one after another, each with the ids of its heads, earlier ones among
    them; null without such nodes, or beyond `SEARCH_INDEXERS`, `SEARCH_NODES` or `SEARCH_HEADS`. `is_fewest` says that
    all shorter sequences of `next_nodes` were tried; null without `would_settle`.

    Args:
        part: The bases.
        rule: A rule of `rules.RULES`.
        base: int64[...], the bases to order, ascending; the others have no rows.
        is_head: bool[nodes of the part], the previous nodes of the next node of a writer that knows all nodes.
    """
    bases = part.bases
    found = Order(base, *RULES[rule](bases, base, np.full(len(base), -1)))
    settled = settled_nodes(bases, found)
    low = part.numbered.graphs.base_start[part.begin]
    windows = cut_windows(bases, found, part.numbered.length[low : low + len(settled)])
    left = [int(b) for b in base if not settled[bases.base_start[b] : bases.base_start[b + 1]].all()]
    local = {b: _BaseWindow(part, windows, b, settled, is_head) for b in left}
    stopped = _stopped_writers(part, left)
    searched = [window for b in left if (window := local[b].window(stopped.get(b, set())))]
    next_nodes = search(windows, searched, rule)
    by_number = {window.number: window for window in searched}
    every = (_rows_of_base(local[b], settled, by_number.get(b), *next_nodes.get(b, ({}, 0))) for b in left)
    found_rows = chain.from_iterable(every)
    while some := list(islice(found_rows, ROWS_PER_BATCH)):
        yield pa.RecordBatch.from_pylist(some, RESULT_SCHEMA)


def _rows_of_base(
    local: "_BaseWindow", settled: np.ndarray, window: Window | None, drafts: dict[int, Sequence], proven: int
) -> Iterator[dict]:
    part, b, low = local.part, local.b, local.low
    found = waiting(part.bases, b, part.follower, settled[low : part.bases.base_start[b + 1]])
    names, base_id = local.indexer_names(), part.table["base_id"][local.row_of(0)].as_py()
    # All unsettled nodes are in the window.
    for at, (x, x_local) in enumerate(zip(found.node.tolist(), local.unsettled.tolist(), strict=True)):
        chosen = drafts.get(x_local)
        yield {
            "base_id": base_id,
            "row_kind": "unsettled",
            "observer": ALL,
            "node_id": local.id_of(x),
            "degree": 0,
            "reason": found.reason(at),
            "contender": local.id_of(found.contender[at]),
            "awaited_merge": local.id_of(found.merge[at]),
            "writers": [names[k] for k in np.flatnonzero(found.is_missing[at])],
            "would_settle": chosen and local.describe(window, chosen),
            "is_fewest": chosen and len(chosen) <= proven,
        }


def _stopped_writers(part: Part, left: list[int]) -> dict[int, set[str]]:
    """Return the writers of each base that cannot continue their logs."""
    table = part.table.select(["base_id", "stopped"])
    listed = {row["base_id"]: row["stopped"] for row in table.filter(table["stopped"].is_valid()).to_pylist()}
    first = part.rows_of(np.array(left, np.int64), np.zeros(len(left), np.int64))
    ids = table["base_id"].take(pa.array(first, pa.int64()))
    return {b: set(listed.get(base_id, ())) for b, base_id in zip(left, ids.to_pylist(), strict=True)}


class _BaseWindow:
    """The window of one base, and the heads outside of it."""

    def __init__(self, part: Part, windows: Windows, b: int, settled: np.ndarray, is_head: np.ndarray) -> None:
        self.part, self.windows, self.b = part, windows, b
        self.low, high = part.bases.base_start[b], part.bases.base_start[b + 1]
        self.begin, self.end = windows.graphs.base_start[b], windows.graphs.base_start[b + 1]
        self.node = windows.node[self.begin : self.end]
        self.unsettled = np.flatnonzero(~settled[self.node])
        heads = np.flatnonzero(is_head[self.low : high]) + self.low
        self.heads, self.outer = len(heads), np.setdiff1d(heads, self.node, assume_unique=True)
        self.of_base = slice(*part.numbered.graphs.indexer_start[part.begin + b : part.begin + b + 2])
        self.indexers = int(self.of_base.stop - self.of_base.start)

    def row_of(self, x: int) -> int:
        """Return the input row of a node of the base."""
        return int(self.part.rows_of(self.b, np.array([x]))[0])

    def id_of(self, x: int) -> str | None:
        """Return the id of a node of the base, or None for -1."""
        return self.part.table["node_id"][self.row_of(x)].as_py() if x >= 0 else None

    def indexer_names(self) -> list[str]:
        """Return the keys of the base's indexers."""
        numbered = self.part.numbered
        return numbered.names.take(pa.array(numbered.indexer_name[self.of_base])).to_pylist()

    def window(self, stopped: set[str]) -> Window | None:
        """Make the window, or None beyond the limits."""
        graphs, begin, end = self.windows.graphs, self.begin, self.end
        is_large = self.indexers > SEARCH_INDEXERS or end - begin > SEARCH_NODES
        if is_large or self.heads * len(self.unsettled) > SEARCH_HEADS:
            return None
        start = graphs.start[begin : end + 1]
        previous = (graphs.previous[start[0] : start[-1]] - begin).tolist()
        can_be_followed = (graphs.batch[begin:end] == 1) & ~graphs.is_relayed[begin:end]
        return Window(
            self.b,
            [previous[one:other] for one, other in pairwise((start - start[0]).tolist())],
            [*np.flatnonzero(can_be_followed).tolist(), *range(end - begin, end - begin + len(self.outer))],
            graphs.indexer[begin:end].tolist(),
            self.unsettled.tolist(),
            len(self.outer),
            self._writers(stopped),
            self.indexers // 2 + 1,
        )

    def _writers(self, stopped: set[str]) -> list[Writer]:
        """List the writers that may publish: indexers, and other writers within a batch."""
        bases, numbered = self.part.bases, self.part.numbered
        high = bases.base_start[self.b + 1]
        length = numbered.length[numbered.graphs.base_start[self.part.begin] :]
        lasts = np.flatnonzero(np.diff(bases.writer[self.low : high], append=-1)) + self.low
        lasts = dict(zip(bases.writer[lasts].tolist(), lasts.tolist(), strict=True))
        floors = dict(
            zip(*(each[self.of_base].tolist() for each in (numbered.indexer_name, numbered.floor)), strict=True)
        )
        number = {place: at for at, place in enumerate(floors)}
        found = []
        for place in sorted({*floors, *lasts}):
            x = lasts.get(place, -1)
            left = int(bases.batch[x]) - 1 if x >= 0 else 0
            last_length = int(length[x]) if x >= 0 else floors[place]
            is_able = place in number or (left > 0 and not bases.is_relayed[x])
            if is_able and last_length < MAX_INT32 and numbered.names[place].as_py() not in stopped:
                at = int(np.searchsorted(self.node, x))
                is_inside = x >= 0 and at < len(self.node) and self.node[at] == x
                found.append(Writer(place, number.get(place, -1), last_length + 1, left, at if is_inside else -1))
        return found

    def describe(self, window: Window, drafts: Sequence) -> list[dict]:
        """Write drafts as the fields of next nodes."""
        names = self.part.numbered.names
        keys = [names[window.writers[draft.writer].place].as_py() for draft in drafts]
        nodes = np.concatenate([self.node, self.outer])
        ids = [f"{key}:{draft.length}" for key, draft in zip(keys, drafts, strict=True)]

        def id_of(x: int) -> str | None:
            return ids[x - len(nodes)] if x >= len(nodes) else self.id_of(int(nodes[x]) - self.low)

        return [
            {"writer": key, "heads": sorted(map(id_of, draft.heads))} for key, draft in zip(keys, drafts, strict=True)
        ]
