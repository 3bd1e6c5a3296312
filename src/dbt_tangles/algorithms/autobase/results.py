"""All results of Autobase for many bases, as rows of one table; `row_kind` says which columns a row has.

view       a place in an observer's order: `position` counts from 0 for each observer, `all` or a writer. The view of a
           writer is its last node and all ancestors of that node. Relayed nodes have a place only where they are
           settled. The rows with `is_confirmed` come first. `design_position` is the place by the other rule, `DESIGN`.
head       a previous node of the next node of a writer that knows all nodes: it can be followed and has no descendant
           that can be followed. Relayed nodes cannot be followed, nor can the nodes of a batch but its last one.
quorum     a quorum over a node: `reached_by`, the first node by depth, writer and length that knows it; `writers`, the
           indexers whose votes it sees, ascending.
change     a node at which part of its writer's view was undone or settled (`view_changes`); or the first of `left_out`
           nodes of a log that is not followed to its end, with an empty `settled`, and null in the other columns.
unsettled  a node that is not settled for the observer `all` (`unsettled`).

Source: the design document of Autobase; autobase 7.28.1.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase import design
from dbt_tangles.algorithms.autobase.base_graphs import Bases, first_followers, index_graphs, with_clocks
from dbt_tangles.algorithms.autobase.bases import Member, number_bases
from dbt_tangles.algorithms.autobase.quorums import quorums
from dbt_tangles.algorithms.autobase.result_rows import ALL, Part, Result
from dbt_tangles.algorithms.autobase.rules import AUTOBASE, DESIGN, RULES
from dbt_tangles.algorithms.autobase.unsettled import unsettled_columns
from dbt_tangles.algorithms.autobase.view_changes import Changes, Logs, follow, follow_by_design
from dbt_tangles.columns.arrays import starts
from dbt_tangles.kernel_runtime.compiled import compiled
from dbt_tangles.kernel_runtime.kernel import kernel
from dbt_tangles.kernel_runtime.output import Nested, Texts

#: The most nodes times indexers of a base; its clocks and followers take eight bytes for each.
ENTRY_LIMIT = 2**28

#: The most nodes times indexers of a base whose writers are followed; and its most nodes under the rule `DESIGN`.
FOLLOW_LIMIT, DESIGN_FOLLOW_LIMIT = 2**23, 200

#: The most nodes of views, or nodes times indexers of bases, that are handled together.
TOGETHER = 4_000_000


@kernel(keys=["base_id"], reads=Member, writes=Result)
def results_of_bases(
    table: pa.Table,
    row_limit: int,
    max_degree: int,
    rule: str = AUTOBASE,
    design_position_limit: int = DESIGN_FOLLOW_LIMIT,
) -> Iterator[dict[str, Any]]:
    """Find views, heads, quorums, changes and unsettled nodes of many bases.

    The order of the rows affects only the order of the result.

    Args:
        table: As for `bases.number_bases`.
        row_limit: A base with more writers times nodes has the observer `ALL` only, and no changes. One with more than
            `ENTRY_LIMIT` indexers times nodes, or of more than `design.DESIGN_LIMIT` nodes under the rule `DESIGN`, has
            no views and unsettled nodes.
        max_degree: The highest degree of a quorum to find.
        rule: `AUTOBASE` (see `consensus`) or `DESIGN` (see `design`).
        design_position_limit: Under the rule `AUTOBASE`, only nodes of bases with at most so many nodes have a
            `design_position`: it costs several times as much as the view.

    Raises:
        ValueError: The rule is unknown, `max_degree` is less than 1, edges close a cycle, or as `bases.number_bases`.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    if rule not in RULES:
        raise ValueError(f"no rule is called {rule!r}; there are {', '.join(RULES)}")
    numbered = number_bases(table)
    bases = index_graphs(numbered.graphs)
    nodes, entries = np.diff(bases.base_start), np.diff(bases.base_start) * np.diff(bases.indexer_start)
    has_clocks = entries <= ENTRY_LIMIT
    is_ordered = has_clocks & ((nodes <= design.DESIGN_LIMIT) | (rule != DESIGN))
    logs = _logs(bases)
    is_small = np.bincount(logs.base, minlength=len(nodes)) * nodes <= row_limit
    is_followed = is_small & (entries <= FOLLOW_LIMIT) & ((nodes <= DESIGN_FOLLOW_LIMIT) | (rule != DESIGN))
    names = pa.concat_arrays([numbered.names, pa.array([ALL], pa.large_string())])
    texts = Texts(table["base_id"]), Texts(table["node_id"]), Texts(names)
    whole = Part(*texts, numbered, 0, bases, np.empty(0, np.int32))
    yield whole.results("head", np.sort(numbered.row[_find_heads(bases)]))
    yield _left_out_columns(whole, logs, np.where(is_followed[logs.base], 0, logs.end - logs.first))
    chunk = np.where(has_clocks, (np.cumsum(entries) - entries) // TOGETHER, -1)
    bounds = np.flatnonzero(np.diff(chunk, prepend=-2, append=-2))
    for begin, end in pairwise(bounds):
        if not has_clocks[begin]:
            continue
        clocked = with_clocks(bases, begin, end)
        part = whole._replace(begin=int(begin), bases=clocked, follower=first_followers(clocked))
        own = (logs.base >= begin) & (logs.base < end)
        chosen = Logs(logs.base[own] - begin, logs.first[own], logs.end[own])
        yield from _view_columns(
            part, rule, chosen, is_ordered[begin:end], is_small[begin:end], nodes[begin:end] <= design_position_limit
        )
        yield from _quorum_columns(part, max_degree)
        yield from _change_columns(part, rule, Logs(*(each[is_followed[begin:end][chosen.base]] for each in chosen)))
        yield from unsettled_columns(part, rule, np.flatnonzero(is_ordered[begin:end]))


def _logs(bases: Bases) -> Logs:
    """List the logs of all bases."""
    base = np.repeat(np.arange(len(bases.base_start) - 1), np.diff(bases.base_start))
    is_first = np.append(True, (np.diff(base) != 0) | (np.diff(bases.writer) != 0))
    first = np.flatnonzero(is_first)
    low = bases.base_start[base[first]]
    return Logs(base[first], first - low, np.append(first[1:], len(base)) - low)


@compiled
def _find_heads(bases):
    """Find the heads of bases: bool[nodes]."""
    is_followed, is_head = np.zeros(len(bases.writer), np.bool_), np.zeros(len(bases.writer), np.bool_)
    for b in range(len(bases.base_start) - 1):
        low, high = bases.base_start[b], bases.base_start[b + 1]
        # All descendants of a node are visited before it.
        for i in range(high - 1, low - 1, -1):
            x = low + bases.causal[i]
            can_be_followed = not bases.is_relayed[x] and bases.batch[x] == 1
            is_head[x] = can_be_followed and not is_followed[x]
            if can_be_followed or is_followed[x]:
                for e in range(bases.start[x], bases.start[x + 1]):
                    is_followed[low + bases.previous[e]] = True
    return is_head


def _view_columns(
    part: Part, rule: str, logs: Logs, is_ordered: np.ndarray, is_small: np.ndarray, is_compared: np.ndarray
) -> Iterator[dict[str, Any]]:
    """Make the columns of views, a bounded number at a time."""
    count = len(is_ordered)
    base = np.append(np.arange(count), logs.base)
    # A writer's view ends with its last node; the view of `ALL` comes first.
    top = np.append(np.full(count, -1), logs.end - 1)
    chosen = is_ordered[base] & ((top < 0) | is_small[base])
    by_base = np.lexsort((top, base))
    by_base = by_base[chosen[by_base]]
    base, top = base[by_base], top[by_base]
    sizes = np.diff(part.bases.base_start)[base]
    chunk = (np.cumsum(sizes) - sizes) // TOGETHER
    for some in np.split(np.arange(len(base)), np.flatnonzero(np.diff(chunk)) + 1):
        view_start, order, confirmed = RULES[rule](part.bases, base[some], top[some])
        last = part.bases.base_start[base[some]] + np.maximum(top[some], 0)
        writer = np.where(top[some] < 0, len(part.numbered.names), part.bases.writer[last])
        view = np.repeat(np.arange(len(some)), np.diff(view_start))
        position = (np.arange(len(order)) - view_start[view]).astype(np.int32)
        designed = np.full(len(order), np.int32(-1))
        if rule != DESIGN:
            is_in = is_compared[base[some]]
            own = is_in[view]
            designed[own] = _design_positions(
                part.bases, base[some][is_in], top[some][is_in], np.cumsum(is_in)[view[own]] - 1, order[own]
            )
        yield part.results(
            "view",
            part.rows_of(base[some][view], order),
            observer=part.writers.at(writer[view]),
            position=position,
            is_confirmed=position < confirmed[view],
            design_position=position if rule == DESIGN else np.ma.array(designed, mask=designed < 0),
        )


def _design_positions(
    bases: Bases, base: np.ndarray, top: np.ndarray, view: np.ndarray, node: np.ndarray
) -> np.ndarray:
    """Find the places of nodes in views by the rule of the document: int32, -1 for nodes without a place there.

    Args:
        bases: The bases.
        base: The base of each view.
        top: Its last node, see `consensus.order_views`.
        view: int64[n], the view that each node is looked up in.
        node: int32[n].
    """
    start, designed, _ = RULES[DESIGN](bases, base, top)
    first = starts(np.diff(bases.base_start)[base])
    of = np.repeat(np.arange(len(base)), np.diff(start))
    place = np.full(first[-1], np.int32(-1))
    place[first[of] + designed] = np.arange(len(designed)) - start[of]
    return place[first[view] + node]


def _quorum_columns(part: Part, max_degree: int) -> Iterator[dict[str, Any]]:
    numbered = part.numbered
    low = numbered.graphs.base_start[part.begin]
    for found in quorums(part.bases, part.follower, max_degree):
        base = np.searchsorted(part.bases.base_start, found.node, "right") - 1
        first = np.repeat(numbered.graphs.indexer_start[part.begin + base], np.diff(found.voter_start))
        yield part.results(
            "quorum",
            numbered.row[low + found.node],
            degree=found.degree,
            reached_by=part.node_ids.at(numbered.row[low + found.reached_by]),
            writers=Nested(found.voter_start, part.writers.at(numbered.indexer_name[first + found.voter])),
        )


def _change_columns(part: Part, rule: str, logs: Logs) -> Iterator[dict[str, Any]]:
    """Make the columns of changes, for a bounded number of nodes at a time."""
    sizes = np.diff(part.bases.base_start)[logs.base]
    # Views by the rule of the document are ordered together.
    chunk = np.cumsum(sizes * (logs.end - logs.first) if rule == DESIGN else sizes) // TOGETHER
    for at in np.split(np.arange(len(logs.base)), np.flatnonzero(np.diff(chunk)) + 1):
        if len(at):
            some = Logs(*(each[at] for each in logs))
            found = (follow_by_design if rule == DESIGN else follow)(part.bases, part.follower, some)
            yield _columns_of_changes(part, some.base[found.log], found)
            yield _left_out_columns(part, some, found.left_out)


def _columns_of_changes(part: Part, base: np.ndarray, found: Changes) -> dict[str, Any]:
    of = np.repeat(base, np.diff(found.settled_start))
    settled = {"node_id": part.ids_of(of, found.settled), "contender": part.ids_of(of, found.contender)}
    return part.results(
        "change",
        part.rows_of(base, found.node),
        observer=part.writers_of(base, found.node),
        old_length=found.old_length,
        kept=found.kept,
        undone=found.old_length - found.kept,
        appended=found.length - found.kept,
        settled=Nested(found.settled_start, settled),
        left_out=0,
    )


def _left_out_columns(part: Part, logs: Logs, left_out: np.ndarray) -> dict[str, Any]:
    """Make a row for each log that is not followed to its end."""
    cut = np.flatnonzero(left_out)
    base, node = logs.base[cut], (logs.end - left_out)[cut]
    none = part.node_ids.at(np.empty(0, np.int64))
    return part.results(
        "change",
        part.rows_of(base, node),
        observer=part.writers_of(base, node),
        settled=Nested(np.zeros(len(cut) + 1, np.int64), {"node_id": none, "contender": none}),
        left_out=left_out[cut],
    )
