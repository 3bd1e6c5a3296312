"""Made-up event logs, and the evaluation at a small size. These tests neither time nor start Spark."""

from itertools import pairwise

import numpy as np
import pytest

import timeline_oracle as oracle
from bench import __main__ as command
from bench import events, peer, timelines
from bench.evaluation import cases, counts, exploration
from cli_kit import declared


def rng(seed=7) -> np.random.Generator:
    """Return a generator."""
    return np.random.default_rng(seed)


def causes(log: events.Log) -> list[list[int]]:
    """Return the causes of each event."""
    return [log.cause[low:high].tolist() for low, high in pairwise(log.start)]


def known(made: events.Timelines) -> dict[str, set[str]]:
    """Return timelines in the oracle's form, with events under names that sort like their numbers."""
    lists = [made.cause[low:high].tolist() for low, high in pairwise(made.cause_start)]
    return {f"{event:06}": {f"{cause:06}" for cause in listed} for event, listed in enumerate(lists)}


@pytest.mark.parametrize(("feeds", "lurkers", "references"), [(2, 0, 1), (3, 0, 2), (16, 0, 1), (16, 0, 4), (5, 40, 1)])
def test_each_rank_has_two_events(feeds, lurkers, references):
    log = events.append(400, feeds, rng(), references, lurkers)
    assert (np.bincount(log.rank) == 2).all()
    lists = causes(log)
    for event, listed in enumerate(lists):
        assert log.rank[event] == 1 + max((log.rank[cause] for cause in listed), default=-1)


@pytest.mark.parametrize("references", [1, 2, 4])
def test_an_event_lists_its_own_last_and_the_highest_of_the_others(references):
    """Tips as they were before the step in which two events are appended."""
    log = events.append(300, 7, rng(), references)
    lists = causes(log)
    tips = {}
    for first in range(0, 300, 2):
        for event in (first, first + 1):
            own, listed = log.feed[event], list(lists[event])
            if own in tips:
                assert listed.pop(0) == tips[own]
            others = [tip for feed, tip in tips.items() if feed != own]
            ranks = sorted((log.rank[tip] for tip in others), reverse=True)
            assert [log.rank[tip] for tip in listed] == ranks[:references]
            assert set(listed) <= set(others) and len(set(listed)) == len(listed)
        assert log.feed[first] != log.feed[first + 1]
        tips |= {log.feed[event]: event for event in (first, first + 1)}


def test_feeds_may_differ_in_how_much_they_list():
    references = np.array([3, 1, 1, 1, 1])
    log = events.append(200, 5, rng(), references)
    listed = np.diff(log.start)
    assert listed[100:].tolist() == [4 if feed == 0 else 2 for feed in log.feed[100:]]


def test_lurkers_hardly_append():
    log = events.append(2_000, 4, rng(), lurkers=60)
    counts = np.bincount(log.feed)
    assert (counts[4:] == events.LURKS).all()
    assert counts[:4].min() > 300


def test_a_seed_is_a_log():
    first, again, other = (events.append(200, 5, rng(seed)) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first.feed, other.feed)


@pytest.mark.parametrize("numbers", [(3, 4, 0), (10, 1, 0), (10, 2, 3)])
def test_impossible_logs_are_refused(numbers):
    count, feeds, lurkers = numbers
    with pytest.raises(ValueError, match="cannot be"):
        events.append(count, feeds, rng(), lurkers=lurkers)


def deliveries(log):
    """Return the ways of delivering a log."""
    return {
        "by_feed": events.deliver_by_feed(log, rng()),
        "late": events.deliver_late(log, 30, rng()),
        "in_order": events.deliver_in_order(log),
    }


def test_deliveries_keep_the_order_of_each_feed():
    log = events.append(1_000, 9, rng(), lurkers=20)
    for arrived in deliveries(log).values():
        assert sorted(arrived) == list(range(1_000))
        for feed in range(29):
            own = arrived[log.feed[arrived] == feed]
            assert (np.diff(own) > 0).all()


def test_late_is_bounded():
    """At most `bound` later events precede a late one, except those that wait for their feed."""
    log = events.append(4_000, 40, rng())
    arrived = events.deliver_late(log, 30, rng())
    place = np.empty(4_000, int)
    place[arrived] = np.arange(4_000)
    assert 0 < np.abs(place - np.arange(4_000)).max() <= 30
    assert np.array_equal(events.deliver_late(log, 0, rng()), np.arange(4_000))


def test_random_feeds_take_turns():
    """Long feeds are not served more often than short ones."""
    log = events.append(4_000, 4, rng(), lurkers=4)
    arrived = events.deliver_by_feed(log, rng())
    assert np.bincount(log.feed[arrived[:400]])[:4].min() > 60
    assert set(range(8)) <= set(log.feed[arrived[:100]])


def test_names_hide_the_log():
    """The same graph under numbers by name."""
    log = events.append(200, 6, rng())
    arrived = events.deliver_by_feed(log, rng())
    named = events.named(log, arrived, rng())
    number = dict(zip(arrived.tolist(), named.arrived.tolist(), strict=True))
    assert sorted(number.values()) == list(range(200))
    for event, listed in enumerate(causes(log)):
        low, high = named.cause_start[number[event] : number[event] + 2]
        assert named.cause[low:high].tolist() == [number[cause] for cause in listed]
    assert abs(np.corrcoef(named.arrived, np.arange(200))[0, 1]) < 0.3


def test_missing_events_are_not_causes():
    log = events.append(200, 6, rng())
    arrived = events.deliver_by_feed(log, rng())
    some = arrived[arrived % 5 != 0]
    named = events.named(log, some, rng())
    assert len(named.cause_start) == 161
    assert len(named.cause) == sum(cause % 5 != 0 for e in some for cause in causes(log)[e])


def test_small_timelines_are_timelines():
    """Timelines of the wanted sizes, each event in its timeline, without cycles, and some late."""
    many = events.small_timelines(300, rng())
    sizes = np.diff(many.event_start)
    assert (sizes.min(), sizes.max()) == (5, 20)
    late = 0
    for first, end in pairwise(many.event_start.tolist()):
        arrived = many.arrived[first:end].tolist()
        assert sorted(arrived) == list(range(first, end))
        graph = {e: set(many.cause[many.cause_start[e] : many.cause_start[e + 1]].tolist()) for e in arrived}
        assert all(listed <= set(arrived) and len(listed) <= 2 for listed in graph.values())
        assert oracle.admit([(str(e), [str(c) for c in graph[e]]) for e in arrived])[1] == [None] * len(arrived)
        late += any(cause in arrived[place:] for place, e in enumerate(arrived) for cause in graph[e])
    assert late > 100


def test_arrivals_are_rows():
    """The same timeline as numbers and as a table."""
    log = events.append(60, 4, rng())
    named = events.named(log, events.deliver_by_feed(log, rng()), rng())
    table = events.arrivals_table(named, rng())
    rows = sorted(table.to_pylist(), key=lambda row: row["event_id"])
    names = [row["event_id"] for row in rows]
    assert len(set(names)) == 60 and all(len(name) == events.NAME_LENGTH for name in names)
    for event, row in enumerate(rows):
        low, high = named.cause_start[event : event + 2]
        assert row["causes"] == [names[cause] for cause in named.cause[low:high]]
        assert row["arrival"] == named.arrived.tolist().index(event) + 1


def test_tables_of_many_timelines_keep_them_apart():
    many = events.small_timelines(50, rng())
    table = events.arrivals_table(many, rng())
    assert len(set(table["timeline_id"].to_pylist())) == 50
    owner = dict(zip(table["event_id"].to_pylist(), table["timeline_id"].to_pylist(), strict=True))
    for row in table.to_pylist():
        assert all(owner[cause] == row["timeline_id"] for cause in row["causes"])
    firsts = [row["arrival"] for row in table.to_pylist()]
    assert firsts.count(1) == 50


@pytest.mark.parametrize("batch", [1, 7])
def test_counts_are_those_of_the_shortest_scripts(batch):
    """The textbook's longest common subsequence gives the same counts, batch by batch."""
    made, _ = cases.make_timelines(cases.Case(80, 5))
    graph = known(made)
    arrived = [f"{event:06}" for event in made.arrived]
    old, expected = [], []
    for end in range(batch, len(arrived) + batch, batch):
        new = oracle.converged({name: graph[name] for name in arrived[:end]})
        expected.append(oracle.fewest_commands(old, new))
        old = new
    assert cases.count_commands(made, batch).tolist() == expected
    assert np.argsort(timelines.order_events(made)).tolist() == [int(name) for name in oracle.converged(graph)]


def test_the_peer_is_counted_and_ends_in_our_order():
    made, _ = cases.make_timelines(cases.Case(200, 6))
    found = peer.run(made)
    assert np.array_equal(found.order, np.argsort(timelines.order_events(made)))
    assert (found.commands >= cases.count_commands(made)).sum() > 190
    assert found.commands.sum() > cases.count_commands(made).sum()
    assert peer.run(made, limit_s=0.0) is None


def test_a_limit_leaves_causes_missing():
    """Rejected events are counted, and so are the events that list them."""
    made, facts = cases.make_timelines(cases.Case(400, 16, references=2, chatty=8, max_previous=2))
    assert 0 < facts["refused"] < 100
    assert facts["refused"] + facts["accepted"] == 400 == facts["refused"] + len(made.arrived)
    assert facts["with_missing_causes"] <= facts["missing_causes"] < 400
    assert np.diff(made.cause_start).max() <= 2
    unlimited, facts = cases.make_timelines(cases.Case(400, 16, references=1, max_previous=2))
    assert facts["refused"] == facts["missing_causes"] == 0
    assert cases.count_commands(unlimited).sum() > 400


def test_ranks_from_the_tips_that_change_are_counted():
    """Ranks by the oracle, of the reversed links, after every arrival."""
    log = events.append(60, 5, rng())
    arrived = events.deliver_by_feed(log, rng())
    counts = exploration.ranks_that_change(log.start, log.cause, arrived)
    before: dict[str, int] = {}
    for number, count in enumerate(counts.tolist(), start=1):
        inside = {str(event) for event in arrived[:number]}
        known = {str(event): {str(cause) for cause in causes(log)[event]} & inside for event in arrived[:number]}
        known = {name: {other for other in known if name in known[other]} for name in known}
        now = oracle.ranks(known)
        assert count == sum(before.get(name) != rank for name, rank in now.items())
        before = now


def test_the_evaluation_writes_its_counts(monkeypatch, tmp_path):
    """All of it in small: tables, CSV files and plots; the second run counts no case again and writes the same."""
    monkeypatch.setattr(counts, "RESULTS", tmp_path)
    monkeypatch.setattr(counts, "PEER_FEEDS", {4 * counts.K: (4, 16), 8 * counts.K: (4,)})
    options = command.parse(["evaluation", "--scale", "0.003"])
    results, goals = counts.run(options)
    assert all(goal.met for goal in goals)
    folder = tmp_path / "evaluation" / "scale-0.003"
    names = [result["table"] for result in results]
    written = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert written.keys() == {"README.md", "sizes.svg", "batches.svg", "repetitions.svg", *(f"{n}.csv" for n in names)}
    monkeypatch.setattr(counts, "count_case", None)
    monkeypatch.setattr(counts, "run_peer", None)
    counts.run(options)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == written


def test_tables_stand_between_their_marks():
    text = "before\n<!-- table a -->\nold\n<!-- end a -->\nafter\n"
    assert counts.fill(text, "a", ["new"]) == "before\n<!-- table a -->\n\nnew\n\n<!-- end a -->\nafter\n"
    with pytest.raises(ValueError, match="exactly once"):
        counts.fill(text, "b", ["new"])


def test_percentiles_are_over_repetitions():
    runs = [{"per_event": n, "p50": 1, "p95": n, "p99": 9, "max": 10 * n} for n in (1, 2, 3)]
    told = counts.sum_up_runs(runs)
    assert (told["p50_of_runs"], told["arrival_p95"], told["arrival_max"]) == (2, 2, 30)
    assert told["p5_of_runs"] == pytest.approx(1.1)


def test_speed_is_measured_without_spark():
    """All parts in small: each has figures, and the peer ends in the same order (or the part fails)."""
    results, goals = timelines.run(command.parse(["timelines", "--scale", "0.004", "--repeats", "2"]))
    assert {result["part"] for result in results} == {"order", "peer", "growth", "shapes"}
    assert [result["shape"] for result in results if result["part"] == "shapes"] == [*timelines.HARD_SHAPES]
    assert all(goal.met is None for goal in goals)
    assert sum(result.get("ratio", 1) > 0 for result in results) == len(results)


@pytest.mark.parametrize("shape", timelines.HARD_SHAPES)
def test_hard_shapes_have_their_properties(shape):
    make, *_ = timelines.HARD_SHAPES[shape]
    made = make(12)
    graph = known(made)
    arrived = [f"{event:06}" for event in made.arrived]
    assert sorted(arrived) == sorted(graph)
    ranks = oracle.ranks(graph)
    listed = sum(map(len, graph.values()))
    if shape == "lifted":
        before = oracle.ranks({name: graph[name] for name in arrived[:-1]})
        assert [before[name] for name in arrived[:-1]] == [*range(6), *range(5)]
        assert [ranks[name] for name in arrived] == [*range(6), *range(7, 12), 6]
        assert listed == 5 + 1 + 5 + 3
    elif shape == "dense":
        assert listed == 12 * 11 / 2
    elif shape == "newest_first":
        assert [ranks[name] for name in arrived] == list(range(11, -1, -1)) and listed == 11
    elif shape == "ascending_roots":
        assert arrived == sorted(arrived) and listed == 0
    else:
        assert all(graph[name] == {arrived[-1]} for name in arrived[:-1])


def test_growth_is_a_power():
    assert timelines.power([1, 10, 100], [2, 20, 200]) == 1
    assert timelines.power([1, 10, 100], [1, 100, 10_000]) == 2


@pytest.mark.parametrize("name", ["one", "many"])
def test_arrivals_have_the_columns_of_the_model(name):
    """`int_timeline_order` gets the columns that dbt would give it."""
    assert timelines.arrivals(name, 0.0002).schema == declared("int_timeline_arrivals")
