"""Root causes: for each node that is set aside, the missing or faulty nodes upstream that it waits for."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.topological_generations import children
from dbt_tangles.algorithms.structures.components import on_cycles
from dbt_tangles.algorithms.structures.kahn import extend_depths
from dbt_tangles.algorithms.structures.space import with_space
from dbt_tangles.columns.arrays import first_rows, runs, starts
from dbt_tangles.columns.dense_ids import Nodes, number_ids, number_nodes
from dbt_tangles.columns.strings import Lists, Strings, strings_of, take_strings
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: A merge may wait for any number of ids. Each node keeps this many causes, the first in id order.
MOST_CAUSES = 100


class Waiting(NamedTuple):
    """The nodes of many graphs that are set aside, ascending, and what holds them back, as places in `names`."""

    node: np.ndarray  # int64[waiting]
    cause_start: np.ndarray  # int64[waiting + 1], into `cause`
    cause: np.ndarray  # int64[...], by code point
    missing_start: np.ndarray  # int64[waiting + 1], into `missing`
    missing: np.ndarray  # int64[...], the listed ids without a node, by code point
    names: pa.Array  # Of nodes and missing ids


def root_causes(
    nodes: Nodes, ids: Strings, previous: Lists, found: np.ndarray, is_aside: np.ndarray, is_bad: np.ndarray
) -> Waiting:
    """Find, for nodes that are set aside, the nodes upstream where the fault begins.

    A node that is missing, bad or on a cycle is its own cause. Any other node has the causes of the nodes it waits for:
    the listed ids that are missing or set aside. The node becomes a member once all its causes are resolved. Time and
    memory grow with the edges between these nodes, and with nodes times `MOST_CAUSES`.

    Args:
        nodes: The numbered rows.
        ids: The id of each row.
        previous: The list of each row; a null within is ignored.
        found: int32[items], the node of each listed id, or -1.
        is_aside: bool[nodes], the nodes to look at.
        is_bad: bool[nodes], those of them that are faulty themselves; their lists are ignored.
    """
    node = np.flatnonzero(is_aside)
    owner = np.flatnonzero(~is_bad[node])
    start, item = runs(previous.starts, nodes.row[node[owner]])
    owner = np.repeat(owner, np.diff(start))
    is_met = np.where(found[item] < 0, ~previous.items.valid[item], ~is_aside[found[item]])
    owner, item = owner[~is_met], item[~is_met]
    is_missing = found[item] < 0

    # The waiting nodes and the missing ids are numbered together, each id of a graph once.
    names = pa.chunked_array([take_strings(ids, nodes.row[node]), take_strings(previous.items, item[is_missing])])
    graph_of = np.repeat(np.arange(len(nodes.graph_start) - 1, dtype=np.int32), np.diff(nodes.graph_start))[node]
    texts = strings_of(names)
    numbered = number_nodes(np.append(graph_of, graph_of[owner[is_missing]]), len(nodes.graph_start) - 1, texts)
    number = np.empty(len(numbered.row), np.int64)
    number[numbered.row] = number_ids(numbered, texts)
    count = int(number.max(initial=-1)) + 1
    own = number[: len(node)]
    number_of = np.full(len(is_aside), -1)
    number_of[node] = own
    target = number_of[found[item]]
    target[is_missing] = number[len(node) :]

    # Each edge once, by owner, then target.
    edge = np.unique(own[owner] * count + target)
    owner, target = edge // max(count, 1), (edge % max(count, 1)).astype(np.int32)
    edge_start = starts(np.bincount(owner, minlength=count))
    is_cause = np.diff(edge_start) == 0
    begin, end, cause = _causes(edge_start, target, is_cause | on_cycles(edge_start, target, ~is_cause), MOST_CAUSES)
    is_absent = np.ones(count, np.bool_)
    is_absent[own] = False
    name = first_rows(number, count)
    cause_start = starts((end - begin)[own])
    kept = np.arange(cause_start[-1]) + np.repeat(begin[own] - cause_start[:-1], np.diff(cause_start))
    absent = np.flatnonzero(is_absent[target])
    missing_start, at = runs(starts(np.bincount(owner[absent], minlength=count)), own)
    missing = name[target[absent[at]]]
    return Waiting(node, cause_start, name[cause[kept]], missing_start, missing, names.combine_chunks())


@compiled
def _causes(start, previous, own, most):
    """Find the causes of each node, ascending: the begin and end of each list in an array. `own` causes itself."""
    n = len(own)
    waiting = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    tail = 0
    for node in range(n):
        waiting[node] = -1 if own[node] else start[node + 1] - start[node]
        if own[node]:
            queue[tail] = node
            tail += 1
    extend_depths(children(start, previous), waiting, np.zeros(n, np.int32), np.zeros(n, np.int32), queue, 0, tail)
    begin = np.empty(n, np.int64)
    end = np.empty(n, np.int64)
    found = np.empty(max(2 * n, most), np.int32)
    merged = np.empty(most, np.int32)
    count = 0
    for node in queue:
        found = with_space(found, count, most)
        begin[node] = count
        if own[node]:
            found[count] = node
            count += 1
        else:
            for e in range(start[node], start[node + 1]):
                p = previous[e]
                length = _merge(found[begin[node] : count], found[begin[p] : end[p]], merged)
                found[begin[node] : begin[node] + length] = merged[:length]
                count = begin[node] + length
        end[node] = count
    return begin, end, found[:count].copy()


@inner
def _merge(some, others, merged):
    """Merge two ascending runs without duplicates, up to the capacity of `merged`; return the length."""
    i = j = count = 0
    while count < len(merged) and (i < len(some) or j < len(others)):
        is_of_some = j == len(others) or (i < len(some) and some[i] <= others[j])
        value = some[i] if is_of_some else others[j]
        i += i < len(some) and some[i] == value
        j += j < len(others) and others[j] == value
        merged[count] = value
        count += 1
    return count
