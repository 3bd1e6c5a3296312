"""All results of Autobase for many bases, as rows of one table; `row_kind` says which columns a row has.

view       a place in an observer's order: `position` counts from 0 for each observer, `all` or a writer. The view of a
           writer is its last node and all ancestors of that node. Relayed nodes have a place only where they are
           settled. The rows with `is_confirmed` come first.
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
from dbt_tangles.algorithms.autobase.bases import number_bases
from dbt_tangles.algorithms.autobase.quorums import quorums
from dbt_tangles.algorithms.autobase.result_rows import ALL, SETTLED, Part, ids_of, lists, rows
from dbt_tangles.algorithms.autobase.rules import AUTOBASE, DESIGN, RULES
from dbt_tangles.algorithms.autobase.unsettled import unsettled_rows
from dbt_tangles.algorithms.autobase.view_changes import Changes, Logs, follow, follow_by_design
from dbt_tangles.kernel_runtime.compiled import compiled

#: The most nodes times indexers of a base; its clocks and followers take eight bytes for each.
ENTRY_LIMIT = 2**28

#: The most nodes times indexers of a base whose writers are followed; and its most nodes under the rule `DESIGN`.
FOLLOW_LIMIT, DESIGN_FOLLOW_LIMIT = 2**23, 200

#: The most nodes of views, or nodes times indexers of bases, that are handled together.
TOGETHER = 4_000_000


def results_of_partition(batches: Iterator[pa.RecordBatch], **options: Any) -> Iterator[pa.RecordBatch]:
    """Find the results of a partition's bases, if it has rows; see `results_of_bases`."""
    if found := list(filter(len, batches)):
        yield from results_of_bases(pa.Table.from_batches(found), **options)


def results_of_bases(
    table: pa.Table, row_limit: int, max_degree: int, rule: str = AUTOBASE
) -> Iterator[pa.RecordBatch]:
    """Find views, heads, quorums, changes and unsettled nodes of many bases.

    The order of the rows affects only the order of the result.

    Args:
        table: As for `bases.number_bases`.
        row_limit: A base with more writers times nodes has the observer `ALL` only, and no changes. One with more than
            `ENTRY_LIMIT` indexers times nodes, or of more than `design.DESIGN_LIMIT` nodes under the rule `DESIGN`, has
            no views and unsettled nodes.
        max_degree: The highest degree of a quorum to find.
        rule: `AUTOBASE` (see `consensus`) or `DESIGN` (see `design`).

    Yields:
        Rows of `RESULT_SCHEMA`.

    Raises:
        ValueError: The rule is unknown, `max_degree` is less than 1, edges close a cycle, or as `bases.number_bases`.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    if rule not in RULES:
        raise ValueError(f"no rule is called {rule!r}; there are {', '.join(RULES)}")
    if not len(table):
        return
    numbered = number_bases(table)
    bases = index_graphs(numbered.graphs)
    nodes, entries = np.diff(bases.base_start), np.diff(bases.base_start) * np.diff(bases.indexer_start)
    has_clocks = entries <= ENTRY_LIMIT
    is_ordered = has_clocks & ((nodes <= design.DESIGN_LIMIT) | (rule != DESIGN))
    logs = _logs(bases)
    is_small = np.bincount(logs.base, minlength=len(nodes)) * nodes <= row_limit
    is_followed = is_small & (entries <= FOLLOW_LIMIT) & ((nodes <= DESIGN_FOLLOW_LIMIT) | (rule != DESIGN))
    whole = Part(table, numbered, 0, bases, np.empty(0, np.int32))
    head = np.sort(numbered.row[_find_heads(bases)])
    yield from rows(whole, "head", len(head), lambda at: {"node_id": head[at]})
    yield from _left_out_rows(whole, logs, np.where(is_followed[logs.base], 0, logs.end - logs.first))
    chunk = np.where(has_clocks, (np.cumsum(entries) - entries) // TOGETHER, -1)
    bounds = np.flatnonzero(np.diff(chunk, prepend=-2, append=-2))
    for begin, end in pairwise(bounds):
        if not has_clocks[begin]:
            continue
        clocked = with_clocks(bases, begin, end)
        part = Part(table, numbered, int(begin), clocked, first_followers(clocked))
        own = (logs.base >= begin) & (logs.base < end)
        chosen = Logs(logs.base[own] - begin, logs.first[own], logs.end[own])
        yield from _view_rows(part, rule, chosen, is_ordered[begin:end], is_small[begin:end])
        yield from _quorum_rows(part, max_degree)
        yield from _change_rows(part, rule, Logs(*(each[is_followed[begin:end][chosen.base]] for each in chosen)))
        yield from unsettled_rows(part, rule, np.flatnonzero(is_ordered[begin:end]))


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


def _view_rows(
    part: Part, rule: str, logs: Logs, is_ordered: np.ndarray, is_small: np.ndarray
) -> Iterator[pa.RecordBatch]:
    """Make the rows of views, a bounded number at a time."""
    count = len(is_ordered)
    base = np.append(np.arange(count), logs.base)
    # A writer's view ends with its last node; the view of `ALL` comes first.
    top = np.append(np.full(count, -1), logs.end - 1)
    chosen = is_ordered[base] & ((top < 0) | is_small[base])
    by_base = np.lexsort((top, base))
    by_base = by_base[chosen[by_base]]
    base, top = base[by_base], top[by_base]
    names = pa.concat_arrays([part.numbered.names, pa.array([ALL], pa.large_string())])
    sizes = np.diff(part.bases.base_start)[base]
    chunk = (np.cumsum(sizes) - sizes) // TOGETHER
    for some in np.split(np.arange(len(base)), np.flatnonzero(np.diff(chunk)) + 1):
        view_start, order, confirmed = RULES[rule](part.bases, base[some], top[some])
        low = part.bases.base_start[base[some]]
        writer = np.where(top[some] < 0, len(names) - 1, part.bases.writer[low + np.maximum(top[some], 0)])

        def make(at: np.ndarray, bounds=(view_start, order, confirmed, writer, base[some])) -> dict:
            view_start, order, confirmed, writer, base = bounds
            view = np.searchsorted(view_start, at, "right") - 1
            position = (at - view_start[view]).astype(np.int32)
            return {
                "observer": names.take(pa.array(writer[view])),
                "node_id": part.rows_of(base[view], order[at]),
                "position": position,
                "is_confirmed": position < confirmed[view],
            }

        yield from rows(part, "view", len(order), make)


def _quorum_rows(part: Part, max_degree: int) -> Iterator[pa.RecordBatch]:
    numbered = part.numbered
    low = part.numbered.graphs.base_start[part.begin]
    for found in quorums(part.bases, part.follower, max_degree):

        def make(at: np.ndarray, found=found) -> dict:
            base = np.searchsorted(part.bases.base_start, found.node[at], "right") - 1
            voters = np.diff(found.voter_start)[at]
            first = np.repeat(numbered.graphs.indexer_start[part.begin + base], voters)
            name = numbered.indexer_name[first + found.voter[found.voter_start[at[0]] : found.voter_start[at[-1] + 1]]]
            return {
                "node_id": numbered.row[low + found.node[at]],
                "degree": found.degree[at],
                "reached_by": numbered.row[low + found.reached_by[at]],
                "writers": lists(numbered.names.take(pa.array(name)).cast(pa.string()), found.voter_start, at),
            }

        yield from rows(part, "quorum", len(found.node), make)


def _change_rows(part: Part, rule: str, logs: Logs) -> Iterator[pa.RecordBatch]:
    """Make the rows of changes, for a bounded number of nodes at a time."""
    sizes = np.diff(part.bases.base_start)[logs.base]
    # Views by the rule of the document are ordered together.
    chunk = np.cumsum(sizes * (logs.end - logs.first) if rule == DESIGN else sizes) // TOGETHER
    for at in np.split(np.arange(len(logs.base)), np.flatnonzero(np.diff(chunk)) + 1):
        if len(at):
            some = Logs(*(each[at] for each in logs))
            found = (follow_by_design if rule == DESIGN else follow)(part.bases, part.follower, some)
            yield from _rows_of_changes(part, some, found)
            yield from _left_out_rows(part, some, found.left_out)


def _rows_of_changes(part: Part, logs: Logs, found: Changes) -> Iterator[pa.RecordBatch]:
    base = logs.base[found.log]

    def make(at: np.ndarray) -> dict:
        inside = slice(found.settled_start[at[0]], found.settled_start[at[-1] + 1])
        of = np.repeat(base[at], np.diff(found.settled_start)[at])
        both = [ids_of(part, part.rows_of(of, each[inside])) for each in (found.settled, found.contender)]
        node, kept = found.node[at], found.kept[at]
        return {
            "observer": _writers(part, base[at], node),
            "node_id": part.rows_of(base[at], node),
            "old_length": found.old_length[at],
            "kept": kept,
            "undone": found.old_length[at] - kept,
            "appended": found.length[at] - kept,
            "settled": lists(pa.StructArray.from_arrays(both, ["node_id", "contender"]), found.settled_start, at),
            "left_out": np.zeros(len(at), np.int32),
        }

    yield from rows(part, "change", len(found.node), make)


def _writers(part: Part, base: np.ndarray, node: np.ndarray) -> pa.Array:
    return part.numbered.names.take(pa.array(part.bases.writer[part.bases.base_start[base] + node]))


def _left_out_rows(part: Part, logs: Logs, left_out: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Make a row for each log that is not followed to its end."""
    cut = np.flatnonzero(left_out)

    def make(at: np.ndarray) -> dict:
        base, node = logs.base[cut[at]], (logs.end - left_out)[cut[at]]
        return {
            "observer": _writers(part, base, node),
            "node_id": part.rows_of(base, node),
            "settled": pa.array([[]] * len(at), SETTLED),
            "left_out": left_out[cut[at]].astype(np.int32),
        }

    yield from rows(part, "change", len(cut), make)
