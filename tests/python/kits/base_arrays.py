"""Bases of the oracle as kernel arguments."""

from collections.abc import Iterable

import numpy as np

from autobase_oracle import Base, Id
from dbt_tangles.algorithms.autobase.base_graphs import Bases, Graphs, index_graphs, with_clocks
from dbt_tangles.algorithms.autobase.rules import RULES

Answer = tuple[list[Id], int]


def arrays_of(bases: list[Base]) -> tuple[Graphs, list[Id]]:
    """Number the nodes of bases; return the arrays and the node of each number."""
    base_start, start, previous, indexer_start = [0], [0], [], [0]
    columns, ids = [], []
    for base in bases:
        nodes = sorted(base.nodes)
        place = {i: len(ids) + at for at, i in enumerate(nodes)}
        rank = {key: at for at, key in enumerate(sorted({i.writer for i in nodes}))}
        number = {key: at for at, key in enumerate(base.indexers)}
        for i in nodes:
            previous += sorted(place[p] for p in base.previous(i))
            start.append(len(previous))
            node = base.nodes[i]
            columns.append((rank[i.writer], node.batch, number.get(i.writer, -1), node.is_relayed))
        ids += nodes
        base_start.append(len(ids))
        indexer_start.append(indexer_start[-1] + len(base.indexers))
    writer, batch, indexer, is_relayed = zip(*columns, strict=True) if columns else ((),) * 4
    return Graphs(
        np.array(base_start, np.int64),
        np.array(start, np.int64),
        np.array(previous, np.int32),
        np.array(writer, np.int32),
        np.array(batch, np.int32),
        np.array(indexer, np.int32),
        np.array(is_relayed, np.bool_),
        np.array(indexer_start, np.int64),
    ), ids


def ordered(graphs: Graphs, rule: str = "autobase") -> tuple[Bases, np.ndarray, np.ndarray, np.ndarray]:
    """Order whole bases: the bases, and the result of `order_views`."""
    count = len(graphs.base_start) - 1
    bases = with_clocks(index_graphs(graphs), 0, count)
    return bases, *RULES[rule](bases, np.arange(count), np.full(count, -1))


def answers(bases: list[Base], rule: str = "autobase") -> list[Answer]:
    """Order all bases in one call: the order of each, and the length of its settled part."""
    graphs, ids = arrays_of(bases)
    _, view_start, order, confirmed = ordered(graphs, rule)
    first = np.repeat(graphs.base_start[:-1], np.diff(view_start))
    found = [ids[x] for x in first + order]
    return [(found[a:b], int(n)) for a, b, n in zip(view_start[:-1], view_start[1:], confirmed, strict=True)]


def contradict(found: Iterable[Answer]) -> bool:
    """Say whether one settled order is not the beginning of another one."""
    settled = sorted((order[:confirmed] for order, confirmed in found), key=len)
    return any(one != settled[-1][: len(one)] for one in settled)
