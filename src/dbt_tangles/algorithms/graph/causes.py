"""Root causes: for each node that is set aside, the missing or faulty nodes upstream that it waits for."""

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.arrays import flags, runs, scatter
from dbt_tangles.algorithms.graph.dense_ids import group_rows, number_nodes
from dbt_tangles.algorithms.graph.links import link
from dbt_tangles.algorithms.graph.members import single_chunk
from dbt_tangles.algorithms.graph.strings import lists_of, strings_of
from dbt_tangles.algorithms.graph.topological_generations import children
from dbt_tangles.algorithms.structures.components import is_on_cycle, strong_components
from dbt_tangles.algorithms.structures.kahn import extend_depths
from dbt_tangles.algorithms.structures.space import with_space
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: A merge may wait for any number of ids. Each node keeps this many causes, the first in id order.
MOST_CAUSES = 100


def root_causes(table: pa.Table, most: int = MOST_CAUSES) -> pa.Array:
    """Find, for nodes that are set aside, the nodes upstream where the fault begins.

    A node that is missing, faulty or on a cycle is its own cause. Any other node has the causes of the nodes it waits
    for. The node becomes a member once all its causes are resolved.

    Args:
        table: One row per graph and node that is set aside or missing, in any order, whole graphs only. Columns:
            `graph_kind`, `graph_id`, `node_id` string, unique within its graph; `is_cause` bool: the node is missing or
            faulty itself; `waits_for` list<string>: the listed ids that are not members, each a row of the table. For a
            cause this list is ignored.
        most: Maximum number of causes kept per node.

    Returns:
        list<string> for each row of the table: its causes by code point, at least one. Time and memory grow with the
        edges and with rows times `most`.

    Raises:
        ValueError: A node waits for an id that has no row in its graph, or has an empty list and is not a cause.
    """
    ids = strings_of(table["node_id"])
    graph, graph_count = group_rows(strings_of(table["graph_kind"]), strings_of(table["graph_id"]))
    nodes = number_nodes(graph, graph_count, ids)
    is_cause = flags(table, "is_cause")[nodes.row]
    links = link(nodes, ids, lists_of(table["waits_for"]), np.ones(len(is_cause), np.bool_), is_cause)
    if (links.none_listed | links.some_missing).any():
        raise ValueError("a node waits for nothing, or for an id without a row in its graph: pass whole graphs")
    start, cause = _causes(links.start, links.previous, is_cause, most)
    # Map the causes from nodes back to the order of the rows.
    offsets, at = runs(start, scatter(np.arange(len(nodes.row)), nodes.row))
    names = single_chunk(table["node_id"], len(at)).take(pa.array(nodes.row[cause[at]]))
    return pa.LargeListArray.from_arrays(pa.array(offsets), names)


@compiled
def _causes(start, previous, is_cause, most):
    """Find the causes of each node, ascending: int64[nodes + 1] into int32[causes]."""
    n = len(is_cause)
    waiting = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    tail = 0
    own = is_cause.copy()
    component, size = strong_components(start, previous, ~is_cause)
    for node in range(n):
        waiting[node] = start[node + 1] - start[node]
        if not is_cause[node]:
            own[node] = is_on_cycle(node, start, previous, component, size)
        if own[node]:
            waiting[node] = -1
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
    # Reorder from the order of discovery to the order of nodes.
    out_start = np.zeros(n + 1, np.int64)
    for node in range(n):
        out_start[node + 1] = out_start[node] + end[node] - begin[node]
    out = np.empty(out_start[n], np.int32)
    for node in range(n):
        out[out_start[node] : out_start[node + 1]] = found[begin[node] : end[node]]
    return out_start, out


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
