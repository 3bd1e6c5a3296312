"""The walk of tangles: membership, depth, orders and root causes (SIP "Tangles", "Multi-author tangle")."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.causes import Waiting, root_causes
from dbt_tangles.algorithms.graph.concurrency import concurrency
from dbt_tangles.algorithms.graph.members import GRAPH
from dbt_tangles.algorithms.graph.orders import positions, renumber, thread_positions, time_keys
from dbt_tangles.algorithms.graph.topological_generations import (
    REASONS,
    Candidates,
    Children,
    child_counts,
    children,
    member_depths,
    set_aside_codes,
)
from dbt_tangles.algorithms.graph.transitive_reduction import redundant_edges
from dbt_tangles.columns.arrays import flags, keep_entries, lists_by_row, scatter
from dbt_tangles.columns.dense_ids import Nodes, group_rows, number_ids, number_rows
from dbt_tangles.columns.links import Links, join_links, look_up
from dbt_tangles.columns.strings import Strings, large_strings, lists_of, strings_of
from dbt_tangles.kernel_runtime.kernel import kernel
from dbt_tangles.kernel_runtime.output import Nested, Texts
from dbt_tangles.kernel_runtime.row_schema import Int32
from dbt_tangles.reasons import TangleReason


class Candidate(NamedTuple):
    """A candidate of a graph, or the depth of a member."""

    graph_kind: str | None
    graph_id: str | None
    node_id: str  # Unique among the candidates of its graph
    previous: list[str] | None  # Null like empty; repeated ids count once, a null within counts as missing
    is_root: bool | None  # The list of a root is ignored
    claim_error: str | None  # If present, the row is not a candidate, and this is its reason
    asserted_ms: float | None
    received_ms: float | None
    author: str | None
    sequence: Int32 | None  # A row without author or sequence has no faults of its writer
    # If present, the row is not a candidate: it gives the depth of a member, computed elsewhere. A graph has such rows
    # for all members or none, and the walk checks them.
    known_depth: Int32 | None


class Place(NamedTuple):
    """The result of a candidate. All but the reason and the last two columns are null for nodes set aside."""

    depth: Int32 | None  # The longest path from the root
    # Null for members: the claim error, or the first that applies of `missing_root`, `empty_previous`,
    # `missing_previous`, `cycle`, `previous_set_aside`
    set_aside_reason: str | None
    position: Int32 | None  # The members of a graph by depth, then id by code point, from 0
    # The members in topological order, from 0. Among the members that are ready, the one with the least of asserted and
    # received time comes first (without a time: last), then the least id
    thread_position: Int32 | None
    child_count: Int32 | None  # The members that list this member
    redundant_previous: list[str] | None  # The previous that are ancestors of another previous
    # The last three columns of members are also null in a graph above `concurrency.MOST_STEPS`
    own_left_out: list[str] | None  # The earlier messages of its author that it does not follow, or 100 of them
    not_tips: list[str] | None  # The previous that the latest earlier message of its author follows
    concurrent_count: Int32 | None  # The members that neither follow nor precede it
    blocked_by: list[str] | None  # Of nodes set aside: `causes.root_causes`, at least one
    missing_previous: list[str] | None  # Of nodes set aside: the listed ids without a row in their graph


def _too_large(candidates: pa.RecordBatch) -> dict[str, pa.Array]:
    """Set all candidates of a large graph aside; rows with a claim error keep that reason."""
    return {"set_aside_reason": candidates["claim_error"].fill_null(TangleReason.TANGLE_TOO_LARGE.value)}


@kernel(keys=GRAPH, reads=Candidate, writes=Place, appends=True, too_large=_too_large, context="known_depth")
def walk(table: pa.Table, missing_previous_excludes: bool = True) -> dict:
    """Compute the members of many graphs, their depth and orders, and the reason why other nodes are set aside.

    The root is a member. A candidate is a member if its list is not empty and all listed ids are members. The result is
    therefore independent of the order of rows, and nodes on a cycle or without a path to the root are set aside.

    Args:
        table: Rows of `Candidate`.
        missing_previous_excludes: Whether a missing previous keeps a candidate out. If false, missing ids are ignored,
            a candidate without any listed node is a member at depth 0, and a root is optional.

    Returns:
        The columns of `Place`.

    Raises:
        ValueError: A `node_id` is null, or the given depths of a graph are not those of its members.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    nodes, ids = number_rows(table, GRAPH, "node_id")
    is_claim = table["known_depth"].is_null().to_numpy()[nodes.row]
    is_candidate = table["claim_error"].is_null().to_numpy()[nodes.row] & is_claim
    is_root = flags(table, "is_root")[nodes.row] & is_candidate
    previous = lists_of(table["previous"])
    found = look_up(nodes, ids, previous, is_claim, is_root | ~is_candidate)
    found_candidate = np.where((found >= 0) & is_candidate[found], found, np.int32(-1))
    links = join_links(nodes, previous, is_candidate, is_root, found_candidate)
    candidates = Candidates(nodes.graph_start, is_candidate, is_root, links)
    reverse = children(links.start, links.previous)
    depth = member_depths(candidates, reverse, missing_previous_excludes)
    if not is_claim.all():
        _check_depths(table, nodes, ids, is_claim, depth)
    codes = set_aside_codes(candidates, depth, missing_previous_excludes)
    is_aside = is_claim & (depth < 0)
    has_list = np.diff(previous.starts)[nodes.row] > 0
    waiting = root_causes(nodes, ids, previous, found, is_aside, ~(is_candidate & has_list))
    return {**_places(table, nodes, ids, links, reverse, depth), **_set_aside_columns(table, nodes, codes, waiting)}


def _check_depths(table: pa.Table, nodes: Nodes, ids: Strings, is_claim: np.ndarray, depth: np.ndarray) -> None:
    """Compare the given depths of all members of some graphs with those of the walk.

    Raises:
        ValueError: They differ, or a depth is of no candidate.
    """
    number = number_ids(nodes, ids)
    given, walked = np.full((2, len(number)), -1, np.int32)
    given[number[~is_claim]] = table["known_depth"].fill_null(-1).to_numpy()[nodes.row[~is_claim]]
    walked[number[is_claim]] = depth[is_claim]
    graph = np.repeat(np.arange(len(nodes.graph_start) - 1), np.diff(nodes.graph_start))
    is_given = np.zeros(len(nodes.graph_start) - 1, np.bool_)
    is_given[graph[~is_claim]] = True
    wrong = np.flatnonzero(is_given[graph] & (given != walked)[number])
    if len(wrong):
        at = int(nodes.row[wrong[0]])
        raise ValueError(
            f"the given depth of {table['node_id'][at]} in {table['graph_id'][at]} is {given[number[wrong[0]]]}, but "
            f"the walk finds {walked[number[wrong[0]]]}: the SQL rounds or the kernel have a fault"
        )


def _set_aside_columns(table: pa.Table, nodes: Nodes, codes: np.ndarray, waiting: Waiting) -> dict:
    """Make the columns of nodes that are set aside."""
    reasons = pa.array(REASONS, pa.string()).take(pa.array(scatter(codes, nodes.row)))
    row, names = nodes.row[waiting.node], Texts(waiting.names)
    is_null = np.ones(len(table), np.bool_)
    is_null[row] = False
    blocked_start, blocked = lists_by_row(waiting.cause_start, row, len(table))
    missing_start, missing = lists_by_row(waiting.missing_start, row, len(table))
    return {
        "set_aside_reason": pc.coalesce(table["claim_error"], reasons),
        "blocked_by": Nested(blocked_start, names.at(waiting.cause[blocked]), is_null),
        "missing_previous": Nested(missing_start, names.at(waiting.missing[missing]), is_null),
    }


def _places(table: pa.Table, nodes: Nodes, ids: Strings, links: Links, reverse: Children, depth: np.ndarray) -> dict:
    """Make the columns of members."""
    start, previous = links.start, links.previous
    time = time_keys(*(table[name].fill_null(np.nan).to_numpy() for name in ("asserted_ms", "received_ms")))
    position = positions(nodes.graph_start, depth)
    dag = renumber(nodes.graph_start, start, previous, position)
    row = nodes.row[dag.node]
    redundant = redundant_edges(dag.start, dag.previous, depth[dag.node])
    found = concurrency(dag, redundant, *_authors(table, row))
    is_searched = found.count >= 0
    by_node = {
        "depth": depth,
        "position": position,
        "thread_position": thread_positions(nodes.graph_start, start, *reverse, depth, time[nodes.row]),
        "child_count": child_counts(start, previous, depth),
    }
    texts, every = Texts(large_strings(ids)), np.ones(len(row), np.bool_)

    def column(values: np.ndarray, has_value: np.ndarray) -> np.ma.MaskedArray:
        by_row = np.ma.masked_all(len(table), values.dtype)
        by_row[row[has_value]] = values[has_value]
        return by_row

    def lists(begin: np.ndarray, listed: np.ndarray, has_list: np.ndarray) -> Nested:
        is_null = np.ones(len(table), np.bool_)
        is_null[row[has_list]] = False
        list_start, entry = lists_by_row(begin, row, len(table))
        return Nested(list_start, texts.at(row[listed[entry]]), is_null)

    return {
        **{name: column(values[dag.node], every) for name, values in by_node.items()},
        "redundant_previous": lists(*keep_entries(dag.start, dag.previous, redundant), every),
        "own_left_out": lists(found.left_start, found.left_out, is_searched),
        "not_tips": lists(*keep_entries(dag.start, dag.previous, found.is_stale), is_searched),
        "concurrent_count": column(found.count, is_searched),
    }


def _authors(table: pa.Table, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the authors of members, -1 without an author or a sequence, and list their sequences: int32[members]."""
    authors = strings_of(table["author"])
    is_known = authors.valid & table["sequence"].is_valid().to_numpy()
    return np.where(is_known, group_rows(authors)[0], -1)[row], table["sequence"].fill_null(0).to_numpy()[row]
