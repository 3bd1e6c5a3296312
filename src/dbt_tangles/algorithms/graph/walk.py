"""The walk of tangles: a table of candidates to membership, depth and orders (SIP "Tangles", "Multi-author tangle")."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.arrays import flags, keep_entries, runs, scatter
from dbt_tangles.algorithms.graph.concurrency import concurrent_counts
from dbt_tangles.algorithms.graph.dense_ids import Nodes, group_rows, number_nodes
from dbt_tangles.algorithms.graph.links import link
from dbt_tangles.algorithms.graph.orders import Dag, positions, renumber, thread_positions, time_keys
from dbt_tangles.algorithms.graph.strings import Strings, lists_of, strings_of
from dbt_tangles.algorithms.graph.topological_generations import (
    REASONS,
    Candidates,
    child_counts,
    children,
    member_depths,
    set_aside_codes,
)
from dbt_tangles.algorithms.graph.transitive_reduction import redundant_edges
from dbt_tangles.algorithms.graph.writer_faults import writer_faults
from dbt_tangles.kernel_runtime.spill_buffer import Rows, chunks_of

WALK_INPUT_SCHEMA = pa.schema(
    [
        ("graph_kind", pa.string()),
        ("graph_id", pa.string()),
        ("node_id", pa.string()),
        ("previous", pa.list_(pa.string())),
        ("is_root", pa.bool_()),
        ("claim_error", pa.string()),
        ("asserted_ms", pa.float64()),
        ("received_ms", pa.float64()),
        ("author", pa.string()),
        ("sequence", pa.int32()),
    ]
)
#: Depths of members, computed elsewhere.
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
#: own_left_out        the earlier messages of the member's author that it does not follow, or 100 of them.
#: not_tips            the previous that the latest earlier message of the member's author follows. This column and
#:                     `own_left_out` are also null in a graph above `writer_faults.MOST_STEPS`.
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
        ("own_left_out", pa.list_(pa.string())),
        ("not_tips", pa.list_(pa.string())),
        ("concurrent_count", pa.int32()),
    ]
)


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
            `asserted_ms`, `received_ms` float64;
            `author` string and `sequence` int32, both optional: a row where either is null has no faults of its writer.
            Further columns are ignored.
        missing_previous_excludes: Whether a missing previous keeps a candidate out. If false, missing ids are ignored,
            a candidate without any listed node is a member at depth 0, and a root is optional.
        depths: The depths of all members of some graphs, computed elsewhere, in the columns of `DEPTH_SCHEMA`, in any
            order. The walk checks them.

    Returns:
        One row per row of the input, in its order (`WALK_OUTPUT_SCHEMA`). The ids in lists are dictionary-encoded; a
        cast to the schema decodes them.

    Raises:
        ValueError: A `node_id` is null, or the given depths of a graph are not those of its members.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    ids, nodes, candidates = _read_candidates(table)
    links = candidates.links
    reverse = children(links.start, links.previous)
    depth = member_depths(candidates, reverse, missing_previous_excludes)
    if depths is not None:
        check_depths(table, nodes, depth, depths)
    codes = set_aside_codes(candidates, depth, missing_previous_excludes)
    time = time_keys(_times(table["asserted_ms"]), _times(table["received_ms"]))[nodes.row]
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
    columns += _fault_columns(table, ids, nodes.row[dag.node], dag, redundant)
    counts = np.full(len(depth), np.int32(-1))
    counts[dag.node] = concurrent_counts(dag.graph_start, *keep_entries(dag.start, dag.previous, ~redundant))
    counts = scatter(counts, nodes.row)
    columns.append(pa.array(counts, mask=counts < 0))
    return pa.table(columns, names=WALK_OUTPUT_SCHEMA.names)


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


def check_depths(table: pa.Table | Rows, nodes: Nodes, depth: np.ndarray, depths: pa.Table) -> None:
    """Compare the depths of all members of some graphs, computed elsewhere, with those of the walk.

    Args:
        table: The candidates, as for `walk_graphs`.
        nodes: The numbered rows.
        depth: int32[nodes], negative for nodes set aside.
        depths: As for `walk_graphs`.

    Raises:
        ValueError: They differ, or a depth is of no candidate.
    """
    ids = DEPTH_SCHEMA.names[:3]
    places = pa.table([table[name] for name in ids], ids).cast(pa.schema([DEPTH_SCHEMA.field(name) for name in ids]))
    places = places.append_column("row", pa.array(np.arange(len(table))))
    found = depths.select(DEPTH_SCHEMA.names).cast(DEPTH_SCHEMA).join(places, ids, join_type="inner", use_threads=False)
    if len(found) < len(depths):
        raise ValueError(f"{len(depths) - len(found)} given depths are of no candidate: the SQL rounds have a fault")
    given = np.full(len(table), -1, np.int32)
    given[found["row"].to_numpy()] = found["depth"].to_numpy()
    given = given[nodes.row]
    graph = np.repeat(np.arange(len(nodes.graph_start) - 1), np.diff(nodes.graph_start))
    is_given = np.zeros(len(nodes.graph_start) - 1, np.bool_)
    is_given[graph[given >= 0]] = True
    wrong = np.flatnonzero(is_given[graph] & (given != depth))
    if len(wrong):
        at = int(nodes.row[wrong[0]])
        raise ValueError(
            f"the given depth of {table['node_id'][at]} in {table['graph_id'][at]} is {given[wrong[0]]}, but the walk "
            f"finds {depth[wrong[0]]}: the SQL rounds or the kernel have a fault"
        )


def _times(column: pa.ChunkedArray) -> np.ndarray:
    return column.cast(pa.float64()).fill_null(np.nan).to_numpy()


def _reasons(codes: np.ndarray, claim_error: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    reasons = pa.array(REASONS, pa.string()).take(pa.array(codes))
    if claim_error.null_count == len(claim_error):
        return reasons
    return pc.coalesce(claim_error.cast(pa.string()), reasons)


def _authors(table: pa.Table | Rows, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the authors of members, -1 without an author or a sequence, and list their sequences: int32[members]."""
    if "author" not in table.column_names:
        return np.full(len(row), -1, np.int32), np.zeros(len(row), np.int32)
    authors = strings_of(chunks_of(table, "author"))
    sequence = table["sequence"].cast(pa.int32())
    is_known = authors.valid & sequence.is_valid().to_numpy()
    return np.where(is_known, group_rows(authors)[0], -1)[row], sequence.fill_null(0).to_numpy()[row]


def _fault_columns(
    table: pa.Table | Rows, ids: Strings, row: np.ndarray, dag: Dag, redundant: np.ndarray
) -> list[pa.Array]:
    """Make the columns `redundant_previous`, `own_left_out` and `not_tips`; `row` is the row of each member."""
    faults = writer_faults(dag, *_authors(table, row))
    member = np.full(len(table), -1)
    member[row] = np.arange(len(row))
    found = (
        (keep_entries(dag.start, dag.previous, redundant), np.ones(len(row), np.bool_)),
        ((faults.left_start, faults.left_out), faults.is_checked),
        (keep_entries(dag.start, dag.previous, faults.is_stale), faults.is_checked),
    )
    return [_lists(ids, row, member, lists, has_list) for lists, has_list in found]


def _lists(
    ids: Strings, row: np.ndarray, member: np.ndarray, lists: tuple[np.ndarray, np.ndarray], has_list: np.ndarray
) -> pa.Array:
    """Make a column of lists of ids, in the order of the rows.

    Args:
        ids: The id of each row.
        row: int32[members], the row of each member.
        member: int64[rows], the member of each row, or -1; such a row has no list.
        lists: int64[members + 1] and int32[...], the members that each member lists.
        has_list: bool[members], false where a member has no list.
    """
    begin, listed = lists
    kept = np.flatnonzero(member >= 0)
    is_null = np.ones(len(member), np.bool_)
    is_null[kept] = ~has_list[member[kept]]
    start, entries = runs(begin, member[kept])
    offsets = np.zeros(len(member) + 1, np.int64)
    offsets[kept + 1] = np.diff(start)
    values = pa.DictionaryArray.from_arrays(pa.array(row[listed[entries]]), _large_strings(ids))
    return pa.LargeListArray.from_arrays(pa.array(np.cumsum(offsets)), values, mask=pa.array(is_null))


def _large_strings(strings: Strings) -> pa.Array:
    """Convert strings without nulls to an Arrow array, without a copy."""
    buffers = pa.py_buffer(strings.offsets), pa.py_buffer(strings.data)
    return pa.LargeStringArray.from_buffers(len(strings.valid), *buffers)
