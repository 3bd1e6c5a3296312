"""Bases of the oracle as kernel arguments."""

import numpy as np

from autobase_oracle import Base, Id
from dbt_tangles.algorithms.autobase.views import ViewArrays


def arrays_of(bases: list[Base]) -> tuple[ViewArrays, list[Id]]:
    """Number the nodes of bases for `order_views`; return the arrays and the node of each number."""
    view_start, start, previous, floor_start, floor = [0], [0], [], [0], []
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
            columns.append((rank[i.writer], i.length, node.batch, number.get(i.writer, -1), node.is_relayed))
        ids += nodes
        view_start.append(len(ids))
        floor += [base.floor.get(key, 0) for key in base.indexers]
        floor_start.append(len(floor))
    writer, length, batch, indexer, is_relayed = zip(*columns, strict=True) if columns else ((),) * 5
    return ViewArrays(
        np.array(view_start, np.int64),
        np.array(start, np.int64),
        np.array(previous, np.int32),
        np.array(writer, np.int32),
        np.array(length, np.int64),
        np.array(batch, np.int32),
        np.array(indexer, np.int32),
        np.array(is_relayed, np.bool_),
        np.array(floor_start, np.int64),
        np.array(floor, np.int64),
    ), ids
