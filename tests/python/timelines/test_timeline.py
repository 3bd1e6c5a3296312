"""The online timeline: after each event its scripts give the converged order, in memory and in an SQLite file."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import timeline_oracle as oracle
from dbt_tangles.algorithms.timeline.replica import Replica, follow
from dbt_tangles.timeline import ConflictError, CycleError, Timeline, sqlite_store
from log_files import read_cases

NAMES = [
    "",
    "a",
    "aa",
    "b",
    "é",
    "z\x00",
    "z",
    "\U0001f600",
    "\uffff",
    "'; drop table events; --",
    "{{ x }}",
    "\x1b[31m",
]


@pytest.fixture(params=["memory", "sqlite"])
def make(request, monkeypatch):
    """Make timelines of a store; SQLite's blocks are small, so that they are divided."""
    monkeypatch.setattr(sqlite_store, "BLOCK", 4)
    return Timeline if request.param == "memory" else lambda: Timeline.open(":memory:")


def check_case(case: dict, timeline: Timeline) -> None:
    """Compare with the peer (the document's appendix A) after each arrival."""
    theirs, ours, commands = [], Replica(), iter(case["commands"])
    for (name, causes), told in zip(case["arrivals"], case["commands_per_arrival"], strict=True):
        for _ in range(told):
            op, first, put = next(commands)
            theirs.insert(put, first if op == "ins" else theirs.pop(first))
        script = timeline.add(name, causes)
        follow(script, ours)
        assert ours.order() == theirs and len(script) <= told
    assert timeline.order() == theirs == case["order"]
    assert {name: timeline.rank(name) for name in theirs} == case["ranks"]


def test_all_prefixes_of_the_small_vectors(make):
    right = [case for case in read_cases("timelines/small.jsonl.gz") if "peer_error" not in case]
    assert len(right) > 90
    for case in right:
        check_case(case, make())


def test_all_prefixes_of_the_medium_vectors():
    for case in read_cases("timelines/medium.jsonl.gz"):
        check_case(case, Timeline())


@st.composite
def deliveries(draw):
    """Draw events with any causes, among them unknown ones and cycles, in order of arrival."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=9, unique=True))
    return [(name, draw(st.lists(st.sampled_from(NAMES), max_size=4))) for name in names]


def check_delivery(arrivals: list[oracle.Arrival], timeline: Timeline) -> None:
    """Compare with the oracle after each arrival; a refused event leaves no trace."""
    known: dict[str, set[str]] = {}
    order: list[str] = []
    for name, listed in arrivals:
        causes = set(listed) - {name}
        if oracle.closes_cycle(known, name, causes):
            before = timeline.order(), timeline.pending(), len(timeline)
            with pytest.raises(CycleError) as error:
                timeline.add(name, listed)
            assert error.value.name == name and error.value.cause in causes
            assert (timeline.order(), timeline.pending(), len(timeline)) == before
            continue
        known[name] = causes
        script = timeline.add(name, listed)
        wanted = oracle.converged(known)
        assert len(script) == oracle.fewest_commands(order, wanted)
        order = oracle.replay(order, script)
        assert order == wanted
    awaited = set().union(*known.values()) - known.keys()
    assert timeline.order() == order and len(timeline) == len(order)
    assert {name: timeline.rank(name) for name in order} == oracle.ranks(known)
    assert timeline.pending() == {
        cause: sorted(name for name, causes in known.items() if cause in causes) for cause in awaited
    }
    for name, causes in known.items():
        assert timeline.add(name, [*causes, *causes, name]) == []
        with pytest.raises(ConflictError):
            timeline.add(name, [*causes, "another"])
    assert timeline.order() == order


@pytest.mark.parametrize("start", [Timeline, lambda: Timeline.open(":memory:")], ids=["memory", "sqlite"])
@given(arrivals=deliveries(), block=st.integers(2, 5))
def test_any_delivery(start, arrivals, block):
    with pytest.MonkeyPatch.context() as patch, start() as timeline:
        patch.setattr(sqlite_store, "BLOCK", block)
        check_delivery(arrivals, timeline)


def test_a_late_event_that_raises_a_chain(make):
    """Both chains rise together with few moves, as only the shorter one falls behind."""
    check_delivery(oracle.interleaved_chains(12), make())


def test_a_refused_event_can_arrive_with_other_causes(make):
    timeline = make()
    timeline.add("b", ["a"])
    timeline.add("c", ["b", "x"])
    with pytest.raises(CycleError, match="'a' would close a cycle: its cause 'c' follows it") as error:
        timeline.add("a", ["new", "c"])
    assert (error.value.name, error.value.cause) == ("a", "c")
    assert timeline.pending() == {"a": ["b"], "x": ["c"]} and len(timeline) == 2
    assert timeline.add("a", ["new"]) == [("ins", "a", None, 0)]
    assert timeline.order() == ["a", "b", "c"] and timeline.rank("c") == 2


def test_names_are_strings(make):
    timeline = make()
    for wrong in (("a", "bc"), (1, []), ("a", [None])):
        with pytest.raises(TypeError):
            timeline.add(*wrong)
    for wrong in (("\ud800", []), ("a", ["\ud800"])):
        with pytest.raises(ValueError):
            timeline.add(*wrong)
    with pytest.raises(KeyError):
        timeline.rank("a")
    assert timeline.order() == [] and timeline.pending() == {} and len(timeline) == 0


def test_a_file_goes_on_where_it_ended(tmp_path):
    arrivals = oracle.interleaved_chains(10)
    path, known, order = tmp_path / "log.db", {}, []
    for name, causes in arrivals:
        timeline = Timeline.open(path)  # The earlier ones are not closed: each event is in the file already.
        order = oracle.replay(order, timeline.add(name, causes))
        known[name] = set(causes)
        assert order == timeline.order() == oracle.converged(known)
    other = Timeline()
    for name, causes in arrivals:
        other.add(name, causes)
    assert other.order() == order and other.pending() == timeline.pending()


@pytest.mark.long
def test_memory_is_bounded(tmp_path):
    """Ten times the events, 10 MB in the file, take no more memory than the bound allows."""
    code = """if True:
        import resource, sys
        from dbt_tangles.timeline import Timeline
        peaks, before = [], []
        with Timeline.open(sys.argv[1], cache_bytes=1 << 20) as timeline:
            for number in range(10_000):
                timeline.add(f"{number * 7919 % 10_007:0200}", before[-2:])
                before = [*before[-1:], f"{number * 7919 % 10_007:0200}"]
                if number in (999, 9_999):
                    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        print(peaks[1] - peaks[0])
    """
    words = [sys.executable, "-c", code, tmp_path / "log.db"]
    grown_kib = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert grown_kib < 3_072
