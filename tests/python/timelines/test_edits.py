"""Edit scripts: after every batch they give the converged order, and they are the shortest possible."""

import bisect
import itertools
import os
import subprocess
import sys
from graphlib import TopologicalSorter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import timeline_oracle as oracle
from convergence_model import arrive, list_dags
from dbt_tangles.algorithms.timeline import edits
from dbt_tangles.algorithms.timeline.edits import script
from dbt_tangles.algorithms.timeline.replica import Replica, follow
from edit_streams import log_of, make_log, scripts, stream
from timeline_oracle import interleaved_chains


def check(arrivals, batches) -> None:
    """Follow one timeline batch by batch."""
    found = scripts(stream(log_of([arrivals]), batches), sorted(name for name, _ in arrivals))
    replica: list[str] = []
    for batch, group in itertools.groupby(range(len(arrivals)), lambda place: batches[place]):
        last = max(group)
        wanted = fast_converged({name: set(causes) - {name} for name, causes in arrivals[: last + 1]})
        commands = found.pop(batch, [])
        assert len(commands) == fast_fewest(replica, wanted)
        assert len({name for _, name, _, _ in commands}) == len(commands)
        replica = oracle.replay(replica, commands)
        assert replica == wanted
    assert not found


def fast_converged(known: dict[str, set[str]]) -> list[str]:
    """Return `oracle.converged` of many events."""
    rank: dict[str, int] = {}
    for event in TopologicalSorter({event: causes & known.keys() for event, causes in known.items()}).static_order():
        rank[event] = 1 + max((rank[cause] for cause in known[event] & known.keys()), default=-1)
    return sorted(known, key=lambda event: (rank[event], event))


def fast_fewest(old: list[str], new: list[str]) -> int:
    """Return `oracle.fewest_commands` of many events: the longest rising run of places, by binary search."""
    place = {event: number for number, event in enumerate(old)}
    ends: list[int] = []
    for event in new:
        if event in place:
            at = bisect.bisect_left(ends, place[event])
            ends[at : at + 1] = [place[event]]
    return len(new) - len(ends)


@st.composite
def graphs(draw):
    """Acyclic events, some with causes that never arrive, delivered in any order."""
    count = draw(st.integers(1, 12))
    names = draw(st.permutations([f"{number:02}" for number in range(count)]))
    events = [
        (name, draw(st.lists(st.sampled_from([*names[:place], "lost", "never"]), max_size=3)))
        for place, name in enumerate(names)
    ]
    return draw(st.permutations(events))


@given(graphs(), st.data())
def test_any_delivery_in_any_batches(arrivals, data):
    batches = data.draw(st.lists(st.integers(0, 2), min_size=len(arrivals), max_size=len(arrivals)))
    check(arrivals, np.cumsum(batches).tolist())


@pytest.mark.parametrize("limit", [10_000, 2**34])
def test_a_timeline_with_too_much_work_has_no_commands(limit, monkeypatch):
    """Each event of a chain that arrives from its end raises all others."""
    monkeypatch.setattr(edits, "WORK_LIMIT", limit)
    counts = (5, 200, 5)
    log = log_of([[(f"{i:03}", [f"{i - 1:03}"]) for i in reversed(range(count))] for count in counts])
    timeline = np.searchsorted(log.timelines.start, stream(log, 1).event, side="right") - 1
    assert np.bincount(timeline).tolist() == [5, 200 if limit > 10_000 else 0, 5]


MEASURED = """
import resource
from edit_streams import log_of, stream
from timeline_oracle import interleaved_chains
stream(log_of([interleaved_chains(10)]), 1, limit=100_000)
log = log_of([interleaved_chains(10), interleaved_chains(25_600), interleaved_chains(10)])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = stream(log, 1, limit=100_000)
print(len(found.event), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_is_for_the_commands_that_are_kept():
    """Without a limit, a quarter of the long timeline's length takes 41 million commands of 20 bytes each."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", MEASURED]
    printed = subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout
    commands, kib = map(int, printed.split())
    assert commands == 2 * len(stream(log_of([interleaved_chains(10)]), 1).event)
    assert kib < 32 * 1024


@given(st.lists(st.tuples(st.permutations(range(7)), st.integers(0, 7), st.permutations(range(7))), max_size=4))
def test_script(orders):
    """Between any two orders, if the second has all events of the first."""
    start = np.arange(len(orders) + 1) * 7
    old = np.full(7 * len(orders), -1, np.int32)
    new = old.copy()
    lists = []
    for number, (before, known, after) in enumerate(orders):
        before = before[:known]
        old[[7 * number + event for event in before]] = range(len(before))
        new[[7 * number + event for event in after]] = range(7)
        lists.append(([str(7 * number + e) for e in before], [str(7 * number + e) for e in after]))
    commands = script(start, old, new)
    names = [str(event) for event in range(7 * len(orders))]
    for number, (before, after) in enumerate(lists):
        mine = commands.event // 7 == number
        found = scripts([column[mine] for column in commands], names).get(0, [])
        assert len(found) == oracle.fewest_commands(before, after)
        assert oracle.replay(before, found) == after


@njit
def longest_rise(old, now):
    """Return the length of the longest common subsequence of two orders."""
    best = np.zeros(len(now), np.int64)
    for i in range(len(now)):
        for place in np.flatnonzero(old == now[i]):
            best[i] = 1
            for j in range(i):
                if best[j] and np.flatnonzero(old == now[j])[0] < place:
                    best[i] = max(best[i], best[j] + 1)
    return best.max()


@njit
def first_wrong(graphs, delivery, commands):
    """Replay timelines that arrive one by one, beside the model; return the first wrong timeline, or -1."""
    count = graphs.shape[1]
    event, taken, put, batch_of, _ = commands
    at = 0
    now, state, order, next_state, next_order = np.empty((5, count), np.int8)
    for t in range(len(graphs)):
        state[:] = -1
        for size in range(count):
            arrive(graphs[t], delivery[size], state, order, size, next_state, next_order)
            state[:], order[:] = next_state, next_order
            old = now[:size].copy()
            length = size
            written = 0
            while at < len(event) and event[at] // count == t and batch_of[at] == size + 1:
                if taken[at] >= 0:
                    if now[taken[at]] != event[at] % count:
                        return t
                    length -= 1
                    now[taken[at] : length] = now[taken[at] + 1 : length + 1].copy()
                now[put[at] + 1 : length + 1] = now[put[at] : length].copy()
                now[put[at]] = event[at] % count
                length += 1
                written += 1
                at += 1
            new = now[: size + 1]
            if length != size + 1 or (new != order[: size + 1]).any() or written != length - longest_rise(old, new):
                return t
    return -1 if at == len(event) else len(graphs)


@pytest.mark.parametrize("count", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.long)])
def test_every_graph_in_every_delivery(count):
    """All of 1, 3, 25, 543 and 29,281 graphs in all orders of arrival: convergence and minimality, exhaustively."""
    graphs = list_dags(count)
    assert len(graphs) == len(np.unique(graphs, axis=0)) == [1, 3, 25, 543, 29_281][count - 1]
    is_listed = graphs[:, :, None] >> np.arange(count) & 1
    start = np.concatenate([[0], np.cumsum(is_listed.sum(2).ravel())])
    owner, _, listed = np.nonzero(is_listed)
    cause = (listed + owner * count).astype(np.int32)
    events = np.arange(len(graphs) + 1) * count
    for delivery in itertools.permutations(range(count)):
        arrived = (np.add.outer(events[:-1], delivery)).ravel().astype(np.int32)
        commands = stream(make_log(events, start, cause, arrived), 1)
        wrong = first_wrong(graphs, np.array(delivery), commands)
        assert wrong == -1, (delivery, graphs[wrong] if wrong < len(graphs) else "commands after the last timeline")


@pytest.mark.parametrize("reach", [1, 3, 20, 300])
@pytest.mark.parametrize("batch", [1, 2, 9, 60])
def test_larger_graphs(reach, batch):
    """Large enough that ranks are shifted and blocks are split; events list others up to `reach` before them."""
    for seed in range(3):
        rng = np.random.default_rng([reach, batch, seed])
        count = 600
        name = [f"{number:04}" for number in rng.permutation(count)]
        arrivals = [
            (name[i], [name[j] for j in {int(i - d) for d in rng.integers(1, reach + 1, rng.integers(0, 4))} if j >= 0])
            for i in range(count)
        ]
        # Late by up to a third of all events, so that some lifts are long.
        arrivals = [arrivals[i] for i in np.argsort(np.arange(count) + rng.integers(0, [2, 30, 200][seed], count))]
        check(arrivals, (np.arange(count) // batch).tolist())


def test_few_arrivals_that_change_many():
    """Each of a few arrivals moves half of the events past the other half; the remaining ones are admitted at once."""
    late = [(f"late{number}", [f"late{number - 1}"] if number else []) for number in range(8)]
    first = [(f"s{number:04}", []) for number in range(2_000)] + [
        (f"r{number:04}", ["late7"]) for number in range(2_000)
    ]
    # The last event of a chain arrives first: each earlier one raises half of the order by one.
    check([*first, *reversed(late)], [*[0] * len(first), *[1] * 5, *[2] * 3])


def shapes(size: int) -> dict[str, tuple[list[oracle.Arrival], int]]:
    """Logs that are hard for ScuttleSort, with the maximum of their commands."""
    name = [f"{number:06}" for number in range(size)]
    chain = [(name[i], [name[i - 1]] if i else []) for i in range(size)]
    fan = [("root", ["lost"]), *((n, ["root"]) for n in name), ("late", []), ("lost", ["late"])]
    rng = np.random.default_rng(1)
    dense = [(name[i], name[:i]) for i in rng.permutation(min(size, 120))]
    deep = [(f"z{number:06}", [f"z{number - 1:06}"] if number else []) for number in range(size)]
    return {
        "chain, newest first": (chain[::-1], 2 * size),
        "late-lifted fan": (fan, 2 * len(fan)),
        "dense": (dense, 40 * len(dense)),
        "ascending roots": ([(n, []) for n in name], size),
        "descending roots": ([(n, []) for n in reversed(name)], size),
        "all wait for one": ([*((n, ["lost"]) for n in name), ("lost", [])], 2 * size),
        "roots below a chain": ([*deep, *((n, []) for n in name)], 2 * size),
    }


@pytest.mark.parametrize("batch", [1, 7, 500])
@pytest.mark.parametrize("shape", shapes(1))
def test_hard_shapes(shape, batch):
    """Large enough that blocks split and ranks are shifted."""
    arrivals, most = shapes(3000)[shape]
    commands = stream(log_of([arrivals]), batch)
    assert len(commands.event) <= most
    known = {name: set(causes) for name, causes in arrivals}
    replica = Replica()
    follow(itertools.chain(*scripts(commands, sorted(known)).values()), replica)
    assert replica.order() == fast_converged(known)
