"""The walk of tangles: a table of candidates to membership, depth and orders (SIP "Tangles", "Multi-author tangle")."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.arrays import flags, keep_entries, scatter
from dbt_tangles.algorithms.graph.concurrency import concurrent_counts
from dbt_tangles.algorithms.graph.dense_ids import Nodes, group_rows, number_nodes
from dbt_tangles.algorithms.graph.links import link
from dbt_tangles.algorithms.graph.orders import Dag, positions, renumber, thread_positions, time_keys
from dbt_tangles.algorithms.graph.strings import Strings, lists_of, strings_of, take_strings
from dbt_tangles.algorithms.graph.topological_generations import (
    NO_KNOWN_DEPTHS,
    REASONS,
    Candidates,
    Children,
    child_counts,
    children,
    first_wrong_depth,
    member_depths,
    set_aside_codes,
)
from dbt_tangles.algorithms.graph.transitive_reduction import redundant_edges
from dbt_tangles.kernel_runtime.compiled import compiled
from dbt_tangles.kernel_runtime.spill_buffer import Rows, chunks_of

WALK_INPUT_SCHEMA = pa.schema(
    [
        ("graph_kind", pa.string()),
        ("graph_id", pa.string()),
        ("node_id", pa.string()),
        ("previous", pa.list_(pa.string())),
        ("is_root", pa.bool_()),
        ("claim_error", pa.string()),
        ("asserted_at", pa.float64()),
        ("received_at", pa.float64()),
    ]
)
#: Members with a known depth.
DEPTH_SCHEMA = pa.schema(
    [
        ("graph_kind", pa.string()),
        ("graph_id", pa.string()),
        ("node_id", pa.string()),
        ("depth", pa.int32()),
    ]
)
#: The result of a walk, by candidate. All but the reason are null for nodes set aside:
#: depth               the longest path from the root.
#: set_aside_reason    null for members: the claim error, or the first that applies of `missing_root`, `empty_previous`,
#:                     `missing_previous`, `cycle`, `previous_set_aside`.
#: position            the members of a graph by depth, then id by code point, from 0.
#: thread_position     the members in topological order, from 0. Among the members that are ready, the one with the
#:                     least of asserted and received time comes first (without a time: last), then the least id.
#: child_count         the members that list this member.
#: redundant_previous  the previous that are ancestors of another previous.
#: concurrent_count    the members that neither follow nor precede this member; also null in a graph above
#:                     `concurrency.MOST_STEPS`.
WALK_OUTPUT_SCHEMA = pa.schema(
    [
        ("depth", pa.int32()),
        ("set_aside_reason", pa.string()),
        ("position", pa.int32()),
        ("thread_position", pa.int32()),
        ("child_count", pa.int32()),
        ("redundant_previous", pa.list_(pa.string())),
        ("concurrent_count", pa.int32()),
    ]
)
# An Arrow array of strings holds at most two gigabytes, so larger results become several chunks.
MAX_CHUNK_BYTES = 2**30


def walk_graphs(
    table: pa.Table | Rows, missing_previous_excludes: bool = True, depths: pa.Table | None = None
) -> pa.Table:
    """Compute the members of many graphs, their depth and orders, and the reason why other nodes are set aside.

    The root is a member. A candidate is a member if its list is not empty and all listed ids are members. The result is
    therefore independent of the order of rows, and nodes on a cycle or without a path to the root are set aside.

    Args:
        table: One row per graph and candidate, in any order, whole graphs only. `graph_kind` and `graph_id` together
            identify a graph (null is a value of its own). Columns:
            `node_id` string, unique within its graph;
            `previous` list<string>, null like empty; repeated ids count once, a null within counts as missing;
            `is_root` bool: the list of such a row is ignored;
            `claim_error` string: if present, the row is not a candidate and this is its reason;
            `asserted_at`, `received_at` float64.
            Further columns are ignored.
        missing_previous_excludes: Whether a missing previous keeps a candidate out. If false, missing ids are ignored,
            a candidate without any listed node is a member at depth 0, and a root is optional.
        depths: Known depths of some members, in the columns of `DEPTH_SCHEMA` and in any order. The walk starts from
            them and checks each.

    Returns:
        One row per row of the input, in its order (`WALK_OUTPUT_SCHEMA`).

    Raises:
        ValueError: A `node_id` is null, a known depth is wrong, or a known depth names no candidate.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    ids, nodes, candidates = _read_candidates(table)
    links = candidates.links
    reverse = children(links.start, links.previous)
    depth = _depths(table, nodes, candidates, reverse, depths, missing_previous_excludes)
    codes = set_aside_codes(candidates, depth, missing_previous_excludes)
    time = time_keys(_times(table["asserted_at"]), _times(table["received_at"]))[nodes.row]
    position = positions(nodes.graph_start, depth)
    by_member = [
        depth,
        position,
        thread_positions(nodes.graph_start, links.start, *reverse, depth, time),
        child_counts(links.start, links.previous, depth),
    ]
    set_aside = scatter(depth < 0, nodes.row)
    columns = [pa.array(scatter(values, nodes.row), mask=set_aside) for values in by_member]
    columns.insert(1, _reasons(scatter(codes, nodes.row), table["claim_error"]))
    dag = renumber(nodes.graph_start, links.start, links.previous, position)
    redundant = redundant_edges(dag.graph_start, dag.start, dag.previous, depth[dag.node])
    columns.append(_redundant_previous(ids, nodes.row, dag, redundant, set_aside))
    counts = np.full(len(depth), np.int32(-1))
    counts[dag.node] = concurrent_counts(dag.graph_start, *keep_entries(dag.start, dag.previous, ~redundant))
    counts = scatter(counts, nodes.row)
    columns.append(pa.array(counts, mask=counts < 0))
    return pa.table(columns, schema=WALK_OUTPUT_SCHEMA)


def _read_candidates(table: pa.Table | Rows) -> tuple[Strings, Nodes, Candidates]:
    """Number the rows of a table and resolve the ids they list."""
    ids = strings_of(chunks_of(table, "node_id"))
    if not ids.valid.all():
        raise ValueError("a node_id is null: give every candidate an id")
    keys = (strings_of(chunks_of(table, name)) for name in ("graph_kind", "graph_id"))
    nodes = number_nodes(*group_rows(*keys), ids)
    is_candidate = table["claim_error"].is_null().to_numpy()[nodes.row]
    is_root = flags(table, "is_root")[nodes.row] & is_candidate
    links = link(nodes, ids, lists_of(chunks_of(table, "previous")), is_candidate, is_root)
    return ids, nodes, Candidates(nodes.graph_start, is_candidate, is_root, links)


def _depths(
    table: pa.Table | Rows,
    nodes: Nodes,
    candidates: Candidates,
    reverse: Children,
    depths: pa.Table | None,
    missing_previous_excludes: bool,
) -> np.ndarray:
    """Compute the depth of each node from the known depths, if any, and check these."""
    if depths is None:
        return member_depths(candidates, reverse, NO_KNOWN_DEPTHS, missing_previous_excludes)
    known = known_depths(table, depths)[nodes.row]
    depth = member_depths(candidates, reverse, known, missing_previous_excludes)
    claimed = np.where(candidates.is_candidate, depth, known)
    wrong = first_wrong_depth(candidates, claimed, missing_previous_excludes)
    if wrong >= 0:
        at = int(nodes.row[wrong])
        raise ValueError(
            f"the known depth of {table['node_id'][at]} in {table['graph_id'][at]} is not its depth: "
            "drop the known depths of that graph and walk all of it"
        )
    return depth


def known_depths(table: pa.Table | Rows, depths: pa.Table) -> np.ndarray:
    """Match known depths to candidates.

    Args:
        table: The candidates, as for `walk_graphs`.
        depths: As for `walk_graphs`.

    Returns:
        int32[rows], -1 where the depth is unknown.

    Raises:
        ValueError: A depth is negative, or its node is not a candidate.
    """
    ids = DEPTH_SCHEMA.names[:3]
    places = pa.table([table[name] for name in ids], ids).cast(pa.schema([DEPTH_SCHEMA.field(name) for name in ids]))
    places = places.append_column("row", pa.array(np.arange(len(table))))
    found = depths.select(DEPTH_SCHEMA.names).cast(DEPTH_SCHEMA).join(places, ids, join_type="inner", use_threads=False)
    if len(found) < len(depths):
        raise ValueError(
            f"{len(depths) - len(found)} known depths are of no candidate: drop them, or add the candidates"
        )
    known = np.full(len(table), -1, np.int32)
    known[found["row"].to_numpy()] = found["depth"].to_numpy()
    if (known[found["row"].to_numpy()] < 0).any():
        raise ValueError("a known depth is negative: depths count from 0")
    return known


def _times(column: pa.ChunkedArray) -> np.ndarray:
    return column.cast(pa.float64()).fill_null(np.nan).to_numpy()


def _reasons(codes: np.ndarray, claim_error: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    reasons = pa.array(REASONS, pa.string()).take(pa.array(codes))
    if claim_error.null_count == len(claim_error):
        return reasons
    return pc.coalesce(claim_error.cast(pa.string()), reasons)


def _redundant_previous(
    ids: Strings, row: np.ndarray, dag: Dag, redundant: np.ndarray, set_aside: np.ndarray
) -> pa.ChunkedArray:
    """Collect the ids of the redundant edges, in the order of the rows.

    Args:
        ids: The id of each row.
        row: int32[nodes], the row of each node.
        dag: The members.
        redundant: bool[edges].
        set_aside: bool[rows], null in the result.
    """
    member = np.full(len(row), -1, np.int64)
    member[row[dag.node]] = np.arange(len(dag.node))
    starts, rows = _marked_rows(member, dag.start, dag.previous, redundant, row[dag.node])
    size = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.diff(ids.offsets)[rows])])[starts]
    chunks = []
    begin = 0
    while begin < len(row) or not chunks:
        end = max(int(np.searchsorted(size, size[begin] + MAX_CHUNK_BYTES, side="right")) - 1, begin + 1)
        end = min(end, len(row))
        values = take_strings(ids, rows[starts[begin] : starts[end]]).cast(pa.string())
        offsets = (starts[begin : end + 1] - starts[begin]).astype(np.int32)
        chunks.append(pa.ListArray.from_arrays(pa.array(offsets), values, mask=pa.array(set_aside[begin:end])))
        begin = end
    return pa.chunked_array(chunks, type=pa.list_(pa.string()))


@compiled
def _marked_rows(member, start, previous, marked, row_of_member):
    starts = np.zeros(len(member) + 1, np.int64)
    rows = np.empty(marked.sum(), np.int32)
    count = 0
    for row in range(len(member)):
        m = member[row]
        if m >= 0:
            for e in range(start[m], start[m + 1]):
                if marked[e]:
                    rows[count] = row_of_member[previous[e]]
                    count += 1
        starts[row + 1] = count
    return starts, rows
