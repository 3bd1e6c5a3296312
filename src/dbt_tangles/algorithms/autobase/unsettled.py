"""The nodes of bases that are not settled, with the reason.

Source: autobase 7.28.1; the design document of Autobase, Quorums to Tails, Forks and Merges.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase.result_rows import Part
from dbt_tangles.algorithms.autobase.rules import RULES
from dbt_tangles.algorithms.autobase.waiting import REASONS, waiting
from dbt_tangles.columns.arrays import ranges, starts
from dbt_tangles.kernel_runtime.output import Nested, Texts

#: The most nodes and missing indexers of the results that are made together.
TOGETHER = 1_000_000


def unsettled_columns(part: Part, rule: str, base: np.ndarray) -> Iterator[dict[str, Any]]:
    """Make a row for each node that is not settled for an observer with all nodes.

    Args:
        part: The bases.
        rule: A rule of `rules.RULES`.
        base: int64[...], the bases to order, ascending; the others have no rows.
    """
    view_start, order, confirmed = RULES[rule](part.bases, base, np.full(len(base), -1))
    sizes = np.diff(part.bases.base_start)[base]
    found, weight = [], 0
    for v in np.flatnonzero(confirmed < sizes):
        b = int(base[v])
        is_settled = np.zeros(sizes[v], np.bool_)
        is_settled[order[view_start[v] : view_start[v] + confirmed[v]]] = True
        nodes = waiting(part.bases, b, part.follower, is_settled)
        rows = np.stack([*(part.rows_of(b, each) for each in (nodes.node, nodes.contender, nodes.merge)), nodes.reason])
        names = part.numbered.indexer_name[part.numbered.graphs.indexer_start[part.begin + b] :]
        for begin, end in ranges(1 + nodes.is_missing.sum(axis=1), TOGETHER):
            node, indexer = np.nonzero(nodes.is_missing[begin:end])
            found.append((rows[:, begin:end], np.bincount(node, minlength=end - begin), names[indexer]))
            weight += end - begin + len(node)
            if weight >= TOGETHER:
                yield _columns(part, found)
                found, weight = [], 0
    if found:
        yield _columns(part, found)


def _columns(part: Part, found: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> dict[str, Any]:
    """Join the unsettled nodes of several bases.

    `found` has, for each base, an array of four lines (the rows of the node, of its contender and of its merge, and the
    code of its reason), and the number and the names of the missing indexers of each node.
    """
    rows, counts, missing = zip(*found, strict=True)
    node, contender, merge, reason = np.concatenate(rows, axis=1)
    return part.results(
        "unsettled",
        node,
        reason=Texts(pa.array(REASONS)).at(reason),
        contender=part.node_ids.at(contender),
        awaited_merge=part.node_ids.at(merge),
        writers=Nested(starts(np.concatenate(counts)), part.writers.at(np.concatenate(missing))),
    )
