"""The nodes of bases that are not settled, with the reason.

Source: autobase 7.28.1; the design document of Autobase, Quorums to Tails, Forks and Merges.
"""

from collections.abc import Iterator
from itertools import chain, islice

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase.result_rows import ALL, RESULT_SCHEMA, Part
from dbt_tangles.algorithms.autobase.rules import RULES
from dbt_tangles.algorithms.autobase.waiting import waiting
from dbt_tangles.kernel_runtime.output import ROWS_PER_BATCH


def unsettled_rows(part: Part, rule: str, base: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Make a row for each node that is not settled for an observer with all nodes.

    Args:
        part: The bases.
        rule: A rule of `rules.RULES`.
        base: int64[...], the bases to order, ascending; the others have no rows.
    """
    view_start, order, confirmed = RULES[rule](part.bases, base, np.full(len(base), -1))
    sizes = np.diff(part.bases.base_start)[base]
    left = np.flatnonzero(confirmed < sizes)
    settled = (order[view_start[v] : view_start[v] + confirmed[v]] for v in left)
    found = chain.from_iterable(_rows_of_base(part, int(base[v]), each) for v, each in zip(left, settled, strict=True))
    while some := list(islice(found, ROWS_PER_BATCH)):
        yield pa.RecordBatch.from_pylist(some, RESULT_SCHEMA)


def _rows_of_base(part: Part, b: int, settled: np.ndarray) -> Iterator[dict]:
    bases, numbered = part.bases, part.numbered
    is_settled = np.zeros(bases.base_start[b + 1] - bases.base_start[b], np.bool_)
    is_settled[settled] = True
    found = waiting(bases, b, part.follower, is_settled)
    indexers = slice(*numbered.graphs.indexer_start[part.begin + b : part.begin + b + 2])
    names = numbered.names.take(pa.array(numbered.indexer_name[indexers])).to_pylist()
    rows = [part.rows_of(b, each) for each in (found.node, found.contender, found.merge)]
    base_id = part.table["base_id"][int(rows[0][0])].as_py()
    ids = [part.table["node_id"].take(pa.array(each, mask=each < 0)).to_pylist() for each in rows]
    for at, (node, contender, merge) in enumerate(zip(*ids, strict=True)):
        yield {
            "base_id": base_id,
            "row_kind": "unsettled",
            "observer": ALL,
            "node_id": node,
            "degree": 0,
            "reason": found.reason(at),
            "contender": contender,
            "awaited_merge": merge,
            "writers": [names[k] for k in np.flatnonzero(found.is_missing[at])],
        }
