"""How a writer's view of a base changed from one of its own nodes to the next.

At each of its nodes a writer knows that node and all it follows. `follow` goes through a writer's log once. What was
settled stays so, in its order. The rest is a list in which each new node has one place: it is the last of what is
there, so the order of the others stays as it is (`place_first_ready` puts it behind what it follows, before the first
larger one). What is settled is taken off the front of that list; only where it was not the front, what follows it is
taken out and put in again.

Nothing is asked about without need. An unsettled merge waits for the nodes with which it might come to be settled: of
each indexer the first one that it has not seen, and the next one as long as the last sees nothing beside it. If neither
a merge that waited nor a tail is settled, nothing is.

Source: autobase 7.28.1; the rule is that of `consensus`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.autobase.confirmation import is_confirmed, is_merge, possible_acks
from dbt_tangles.autobase.consensus import Room, find_group, list_tails
from dbt_tangles.autobase.merges import Waiting, room_for_merges, wake
from dbt_tangles.autobase.settling import settle
from dbt_tangles.autobase.views import Graph, View, find_logs
from dbt_tangles.compiled import compiled, inner
from dbt_tangles.structures.kahn import place_first_ready
from dbt_tangles.structures.ranked_list import (
    first_shown,
    length,
    next_shown,
    place_of,
    put_before_larger,
    ranked_list,
    unlist,
)

#: Steps that a writer's log may take, for each node of its base and besides: questions about merges, nodes looked
#: through for them, nodes put in again. Beyond that the rest of the log is left out.
STEPS_PER_NODE, MORE_STEPS = 64, 10_000


class Followed(NamedTuple):
    """The nodes at which something was undone or settled, by writer, then length.

    Attributes:
        node: int32[changes]; the node at which it was.
        old_length: int32[changes], nodes in the view before.
        kept: int32[changes], so many of them begin the view as before.
        length: int32[changes], nodes in the view now.
        settled_start: int64[changes + 1], into `settled`.
        settled: int32[...]; what is settled now and was not before, in order.
        left_out: int32[writers]; of each log how many nodes were not followed, its last ones.
    """

    node: np.ndarray
    old_length: np.ndarray
    kept: np.ndarray
    length: np.ndarray
    settled_start: np.ndarray
    settled: np.ndarray
    left_out: np.ndarray


class _Arrivals(NamedTuple):
    """Merges that wait for nodes to come: lists as in `merges.Waiting`; `asked` int32[nodes] holds whose turn it is."""

    head: np.ndarray
    link: np.ndarray
    asked: np.ndarray
    is_asked: np.ndarray


@inner
def _await_arrivals(x, indexer, view, base_known, limit, arrivals):
    """Let a merge that is not settled wait for nodes that could change that.

    Args:
        x: The merge, of which `is_confirmed` has just been asked.
        indexer: int32[nodes].
        view: A `views.View` with what is known now.
        base_known: int64[indexers], how many nodes there are of each at all.
        limit: int32[indexers], as `is_confirmed` left it, if most may be acks.
        arrivals: An `_Arrivals`.
    """
    begin, first, known, removed, clock = view.begin, view.first, view.known, view.removed, view.clock
    n = len(known)
    a = np.int64(indexer[x])
    row = clock[x - begin]
    possible = possible_acks(x, a, view)
    missing = 0
    for k in range(n):
        if k != a and known[k] <= row[k]:
            missing += 1
    if possible + missing < n // 2 + 1:
        return
    for k in range(n):
        is_open = k != a and known[k] <= row[k]
        if not is_open and possible >= n // 2 + 1:
            at = np.int64(row[k]) if k == a else max(np.int64(row[k]), removed[k])
            is_open = known[k] <= at
            if not is_open:
                last = clock[first[k] + known[k] - 1 - begin]
                j = 0
                while j < n and last[j] <= limit[j]:
                    j += 1
                is_open = j == n and last[a] >= row[a]
        entry = (x - begin) * n + k
        if is_open and known[k] < base_known[k] and arrivals.link[entry] == -2:
            m = first[k] + known[k]
            arrivals.link[entry] = arrivals.head[m]
            arrivals.head[m] = entry


@inner
def _insert(x, graph, is_in, settled, items):
    """Put a node of the rest where it belongs, all that it follows being there; how many shown ones are before it."""
    after = np.int64(-1)
    place = np.int64(-1)
    for e in range(graph.start[x], graph.start[x + 1]):
        p = np.int64(graph.previous[e])
        if is_in[p] and not settled[p]:
            count, _ = place_of(items, p)
            if count > place:
                after = p
                place = count
    put_before_larger(items, x, after)
    _, shown = place_of(items, x)
    return shown


@inner
def _settle_all(window, graph, view, causal, merging, settled, hidden, unplaced, waiting, merges, room, order, at):
    """Settle what can be settled of what is known now, as in `consensus`, on top of what was settled before.

    Args:
        window: int32[...], the unsettled nodes of indexers, by their places in the causal order.
        graph: A `views.Graph`; batches as far as they are known now.
        view: A `views.View`, of what is known now.
        causal: int32[nodes], of `clocks.causal_order`.
        merging: bool[nodes], which nodes are merges.
        settled: bool[nodes], kept up to date.
        hidden: bool[nodes], all False.
        unplaced: int32[nodes], kept up to date.
        waiting: A `merges.Waiting`, scratch.
        merges: A `merges.Merges`, scratch.
        room: A `consensus.Room`.
        order: int32[nodes of the base], filled from `at` on.
        at: How many nodes were settled.

    Returns:
        How many nodes are settled.
    """
    n = len(view.known)
    begin = view.begin
    majority = n // 2 + 1
    count = 0
    for i in range(len(window)):
        x = np.int64(causal[window[i]])
        waiting.head[x] = -1
        waiting.failed[x] = False
        waiting.failed_below[x] = -1
        merges.place[x] = -1
        for k in range(n):
            waiting.link[(x - begin) * n + k] = -2
        if merging[x] and possible_acks(x, np.int64(graph.indexer[x]), view) >= majority:
            merges.node[count] = x
            merges.place[x] = count
            merges.beyond[count] = count
            count += 1
    merges.beyond[count] = count
    merges.wakes[0] = 0
    levels = 1
    merges.level_node[0] = -1
    merges.level_at[0] = 0
    merges.level_woken[0] = 0
    while True:
        tail_count = list_tails(view, room.tails)
        size, levels = find_group(
            room.tails[:tail_count], levels, count, graph.indexer, settled, view, waiting, merges, room
        )
        if size == 0:
            return at
        size = settle(room.group, size, graph, view, settled)
        wake(room.group[:size], levels, graph.indexer, settled, view, waiting, merges)
        at = place_first_ready(
            room.group[:size], graph.child_start, graph.child, settled, hidden, unplaced, None, room.heap, order, at
        )
        while levels > 1 and settled[merges.level_node[levels - 1]]:
            levels -= 1


@inner
def _repair(replaced, graph, causal, causal_place, is_in, settled, is_moved, items, moved):
    """Take what was settled out of the list, and put in again what follows it; how many those are."""
    count = 0
    for x in replaced:
        unlist(items, x)
    for x in replaced:
        for e in range(graph.child_start[x], graph.child_start[x + 1]):
            c = graph.child[e]
            if is_in[c] and not settled[c] and not is_moved[c]:
                is_moved[c] = True
                moved[count] = causal_place[c]
                count += 1
    done = 0
    while done < count:
        x = causal[moved[done]]
        done += 1
        unlist(items, x)
        for e in range(graph.child_start[x], graph.child_start[x + 1]):
            c = graph.child[e]
            if is_in[c] and not settled[c] and not is_moved[c]:
                is_moved[c] = True
                moved[count] = causal_place[c]
                count += 1
    moved[:count].sort()
    for i in range(count):
        x = np.int64(causal[moved[i]])
        is_moved[x] = False
        _insert(x, graph, is_in, settled, items)
    return count


@compiled
def follow(
    view_start,
    graph,
    is_relayed,
    floor_start,
    causal,
    clock_start,
    clocks,
    log_view,
    log_first,
    log_end,
    steps_per_node,
    more_steps,
):
    """Follow writers through their logs.

    Takes O(log(nodes)) for each node that a writer comes to know, and as many steps as are allowed; memory in
    proportion to nodes times indexers, and to what is settled.

    Args:
        view_start: int64[bases + 1], into the nodes; arrays as in `views`, a view being all there is of a base.
        graph: A `views.Graph`.
        is_relayed: bool[nodes].
        floor_start: int64[bases + 1].
        causal: int32[nodes], of `clocks.causal_order`.
        clock_start: int64[bases + 1], of `clocks.clocks`.
        clocks: int32[...], of the same.
        log_view: int64[writers]; the base of each, ascending.
        log_first: int64[writers], the first node of its log.
        log_end: int64[writers], one behind its last.
        steps_per_node: As `STEPS_PER_NODE`.
        more_steps: As `MORE_STEPS`.

    Returns:
        A `Followed`.
    """
    nodes = len(graph.indexer)
    rooms = np.int64(0)
    most, widest, entries = np.int64(0), np.int64(0), np.int64(0)
    for i in range(len(log_view)):
        v = log_view[i]
        rooms += log_end[i] - log_first[i]
        count = view_start[v + 1] - view_start[v]
        n = floor_start[v + 1] - floor_start[v]
        most, widest, entries = max(most, count), max(widest, n), max(entries, count * n)
    node = np.empty(rooms, np.int32)
    old_length = np.empty(rooms, np.int32)
    kept = np.empty(rooms, np.int32)
    new_length = np.empty(rooms, np.int32)
    settled_start = np.zeros(rooms + 1, np.int64)
    left_out = np.zeros(len(log_view), np.int32)
    found = np.empty(1_000, np.int32)
    changes = 0
    # By node of all bases.
    causal_place = np.empty(nodes, np.int32)
    for i in range(nodes):
        causal_place[causal[i]] = i
    is_in = np.zeros(nodes, np.bool_)
    settled = np.zeros(nodes, np.bool_)
    hidden = np.zeros(nodes, np.bool_)
    new_at = np.full(nodes, np.int32(-1))  # The node with which the writer came to know each.
    is_moved = np.zeros(nodes, np.bool_)
    merging = np.zeros(nodes, np.bool_)
    batch = np.ones(nodes, np.int32)
    unplaced = np.empty(nodes, np.int32)
    failed = np.zeros(nodes, np.bool_)
    failed_below = np.full(nodes, np.int32(-1))
    head = np.full(nodes, np.int64(-1))
    items = ranked_list(nodes)
    items.is_hidden[:] = is_relayed
    known_graph = Graph(graph.start, graph.previous, graph.child_start, graph.child, graph.writer, batch, graph.indexer)
    # For one base.
    link_room = np.empty(entries, np.int64)
    arrival_room = np.empty(entries, np.int64)
    log_room = np.empty((4, widest), np.int64)
    limit_room = np.empty(widest, np.int32)
    ack_room = np.empty(widest, np.int32)
    tails = np.empty(widest, np.int32)
    new = np.empty(most, np.int32)
    window = np.empty(most, np.int32)
    moved = np.empty(most, np.int32)
    order = np.empty(most, np.int32)
    arrivals_head = np.full(nodes, np.int64(-1))
    asked = np.empty(most, np.int32)
    is_asked = np.zeros(nodes, np.bool_)
    merges = room_for_merges(most, nodes)
    room_of_group = np.empty(most, np.int32)
    heap = np.empty(most, np.int32)
    at_view = np.int64(-1)
    for log in range(len(log_view)):
        v = log_view[log]
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        clock = clocks[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        view = View(begin, end, log_room[0, :n], log_room[1, :n], log_room[2, :n], clock)
        base_known = log_room[3, :n]
        room = Room(limit_room[:n], ack_room[:n], tails, room_of_group, heap)
        waiting = Waiting(head, link_room[: (end - begin) * n], failed, failed_below)
        arrivals = _Arrivals(arrivals_head, arrival_room[: (end - begin) * n], asked, is_asked)
        if v != at_view:
            at_view = v
            find_logs(begin, end, graph.indexer, view.first, base_known)
            for x in range(begin, end):
                merging[x] = graph.indexer[x] >= 0 and is_merge(x, graph.start, graph.previous, graph.indexer, view)
        for x in range(begin, end):
            is_in[x] = False
            new_at[x] = -1
            settled[x] = False
            is_asked[x] = False
            arrivals_head[x] = -1
            batch[x] = 1
            unplaced[x] = graph.start[x + 1] - graph.start[x]
        arrivals.link[:] = -2
        view.removed[:] = 0
        items.root[0] = -1
        at = np.int64(0)
        steps = np.int64(0)
        for w in range(log_first[log], log_end[log]):
            if steps > steps_per_node * (end - begin) + more_steps:
                left_out[log] = log_end[log] - w
                break
            # What is new, in causal order.
            size = 1
            new[0] = causal_place[w]
            is_in[w] = True
            done = 0
            while done < size:
                x = causal[new[done]]
                done += 1
                for e in range(graph.start[x], graph.start[x + 1]):
                    p = graph.previous[e]
                    if not is_in[p]:
                        is_in[p] = True
                        new[size] = causal_place[p]
                        size += 1
            new[:size].sort()
            view.known[:] = clock[w - begin]
            before, old_at = length(items), at
            same = before
            asking = 0
            for i in range(size):
                x = np.int64(causal[new[i]])
                new_at[x] = w
                if x > begin and is_in[x - 1] and graph.writer[x - 1] == graph.writer[x]:
                    batch[x - 1] = graph.batch[x - 1]
                if x + 1 < end and is_in[x + 1] and graph.writer[x + 1] == graph.writer[x]:
                    batch[x] = graph.batch[x]
                shown = _insert(x, graph, is_in, settled, items)
                if not is_relayed[x]:
                    same = min(same, shown)
                if merging[x]:
                    is_asked[x] = True
                    asked[asking] = x
                    asking += 1
                entry = arrivals_head[x]
                arrivals_head[x] = -1
                while entry >= 0:
                    z = begin + entry // n
                    following = arrivals.link[entry]
                    arrivals.link[entry] = -2
                    entry = following
                    if not settled[z] and not is_asked[z]:
                        is_asked[z] = True
                        asked[asking] = z
                        asking += 1
            is_found = False
            if n > 0:
                tail_count = list_tails(view, tails)
                for i in range(tail_count):
                    if not is_found and is_confirmed(
                        np.int64(tails[i]), np.int64(-1), graph.indexer, view, room.limit, room.ack
                    ):
                        is_found = True
                for i in range(asking):
                    z = np.int64(asked[i])
                    is_asked[z] = False
                    if not is_found:
                        steps += 1
                        if is_confirmed(z, np.int64(-1), graph.indexer, view, room.limit, room.ack):
                            is_found = True
                        else:
                            _await_arrivals(z, graph.indexer, view, base_known, room.limit, arrivals)
            if is_found:
                open_count = 0
                for k in range(n):
                    for place in range(view.removed[k], view.known[k]):
                        window[open_count] = causal_place[view.first[k] + place]
                        open_count += 1
                window[:open_count].sort()
                at = _settle_all(
                    window[:open_count],
                    known_graph,
                    view,
                    causal,
                    merging,
                    settled,
                    hidden,
                    unplaced,
                    waiting,
                    merges,
                    room,
                    order,
                    at,
                )
                # So many of them began the rest before, nodes that are new now not counted.
                same = 0
                x = first_shown(items)
                while x >= 0 and old_at + same < at and (new_at[x] == w or x == order[old_at + same]):
                    same += new_at[x] != w
                    x = next_shown(items, x)
                is_as_before = old_at + same == at
                front = old_at
                while front < at and first_shown(items) == order[front]:
                    unlist(items, np.int64(order[front]))
                    front += 1
                if front < at:
                    steps += _repair(
                        order[front:at], graph, causal, causal_place, is_in, settled, is_moved, items, moved
                    )
                if is_as_before:
                    same = before
                    for i in range(size):
                        x = np.int64(causal[new[i]])
                        if not is_relayed[x]:
                            _, shown = place_of(items, x)
                            same = min(same, at - old_at + shown)
                steps += open_count
                for i in range(open_count):
                    z = np.int64(causal[window[i]])
                    if merging[z] and not settled[z]:
                        steps += 1
                        is_confirmed(z, np.int64(-1), graph.indexer, view, room.limit, room.ack)
                        _await_arrivals(z, graph.indexer, view, base_known, room.limit, arrivals)
            if same < before or at > old_at:
                node[changes] = w
                old_length[changes] = old_at + before
                kept[changes] = old_at + same
                new_length[changes] = at + length(items)
                first_found = settled_start[changes]
                while first_found + at - old_at > len(found):
                    found = np.concatenate((found, np.empty_like(found)))
                for i in range(at - old_at):
                    found[first_found + i] = order[old_at + i]
                changes += 1
                settled_start[changes] = first_found + at - old_at
    found_count = settled_start[changes]
    return Followed(
        node[:changes].copy(),
        old_length[:changes].copy(),
        kept[:changes].copy(),
        new_length[:changes].copy(),
        settled_start[: changes + 1].copy(),
        found[:found_count].copy(),
        left_out,
    )
