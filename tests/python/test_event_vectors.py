"""Builds of event logs: order, edits and rejects of timelines with known answers and of random timelines.

The expected rows of a timeline come from the oracle, or from the package `scuttlesort`.
"""

import gzip
import json
import random
from collections import Counter

import pytest

import timeline_oracle as oracle
from conftest import DATA
from event_builds import CAUTIOUS, SELECTED, TABLES, Arrival, Built, admit, refusals, sort, to_line
from log_files import contents, scatter, write


def read_cases(name):
    """Read cases by their id."""
    with gzip.open(DATA / "timelines" / f"{name}.jsonl.gz") as lines:
        return {case["id"]: case for case in map(json.loads, lines)}


SMALL, MEDIUM = read_cases("small"), read_cases("medium")
CASES = SMALL | MEDIUM


def arrivals_of(case):
    """Return the arrivals of a case, some with an author."""
    return [
        Arrival(case["id"], name, causes, index, name[:1] if index % 3 else None)
        for index, (name, causes) in enumerate(case["arrivals"])
    ]


def random_arrivals(seed):
    """Make a timeline with all verdicts, missing causes, ties and gaps; an event arrives once per time.

    Most events have one content, so that they arrive as duplicates, and some of them close a cycle.
    """
    rng = random.Random(seed)
    names = [f"{chance}{place}" for place, chance in enumerate(rng.sample("abcdefgh", 8))]
    keys = rng.sample([(arrival * 7 - 20, name) for arrival in range(8) for name in names], 24)
    usual = {name: draw(rng, names) for name in names}
    return [
        Arrival(f"random {seed}", name, draw(rng, names) if rng.random() < 0.1 else usual[name], arrival)
        for arrival, name in keys
    ]


def draw(rng, names):
    """Draw causes, some of them missing."""
    return rng.choices([*names, "never"], k=rng.choice([0, 0, 1, 1, 2, 3]))


RANDOM = {f"random {seed}": random_arrivals(seed) for seed in range(30)}
TIMELINES = {name: arrivals_of(case) for name, case in CASES.items()} | RANDOM
SMALL_TIMELINES = {name: arrivals for name, arrivals in TIMELINES.items() if name not in MEDIUM}
LINES = [to_line(arrival) for arrivals in TIMELINES.values() for arrival in arrivals]

# The same event at the same time: with other causes, another author, an empty author, without an author, or equal.
# All of them are refused, in any order of lines.
CONTESTED = [
    to_line(Arrival(f"contested {number}", event, after, 1, author))
    for number in range(20)
    for event, after in [("e", ["a"]), ("e", ["b", "a"]), ("a", []), ("b", ["a"]), ("f", ["e"]), ("e", []), ("f", [])]
    for author in ("x", "", "y", None, "x")
]


@pytest.fixture(scope="module")
def vectors(project, tmp_path_factory):
    """Build all timelines, with a script for every arrival."""
    folder = tmp_path_factory.mktemp("vectors")
    write(folder / "log.jsonl", LINES + CONTESTED)
    return Built(project("event_vectors", event_log=str(folder)).build(*SELECTED, *CAUTIOUS))


def test_random_timelines_cover_all_verdicts():
    """The random timelines contain accepted arrivals, duplicates, contradictions and cycles."""
    sorted_logs = map(sort, RANDOM.values())
    verdicts = Counter(verdict for log in sorted_logs for verdict in admit(log, refusals(log))[1])
    assert all(verdicts[verdict] > 20 for verdict in (None, "duplicate", "cycle", "conflict"))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "peer_error" not in case])
def test_peer_agrees(name, vectors):
    """Order, ranks and tips equal the peer's; the commands give this order, at most the peer's number per arrival."""
    case = CASES[name]
    rows = vectors.rows(name)
    assert [row["event_id"] for row in rows] == case["order"] == vectors.replay(name)
    assert {row["event_id"]: row["rank"] for row in rows} == case["ranks"]
    assert sorted(row["event_id"] for row in rows if row["is_tip"]) == sorted(case["tips"])
    counts = {batch: len(commands) for batch, commands in vectors.scripts(name).items()}
    assert list(counts) == list(range(1, len(case["arrivals"]) + 1))
    assert all(counts[batch] <= count for batch, count in enumerate(case["commands_per_arrival"], start=1))
    vectors.check_stats(name, arrivals_of(case), list(counts.values()))
    assert name not in vectors.rejects


@pytest.mark.parametrize("name", SMALL_TIMELINES)
def test_order_after_every_arrival(name, vectors):
    """After each arrival the fewest commands give the converged order; the project's own rule refuses cycles."""
    vectors.check_timeline(name, SMALL_TIMELINES[name], 1)


def test_peer_errors_are_cycles(vectors):
    """If the peer raises an error, only the event that closes the cycle is refused."""
    errors = {name: case["peer_error"]["at"] for name, case in CASES.items() if "peer_error" in case}
    assert errors
    for name, event in errors.items():
        [reject] = vectors.rejects[name]
        assert (reject["event_id"], reject["reason"]) == (event, "cycle")
        assert sorted(vectors.order(name)) == sorted({a for a, _ in CASES[name]["arrivals"]} - {event})


def test_all_lines_are_events_or_rejects(vectors):
    assert len(LINES + CONTESTED) == sum(map(len, vectors.events.values())) + sum(map(len, vectors.rejects.values()))
    assert {row["reason"] for rows in vectors.rejects.values() for row in rows} == {"duplicate", "cycle", "conflict"}
    assert {row["reason"] for name in vectors.rejects if "contested" in name for row in vectors.rejects[name]} == {
        "conflict"
    }


@pytest.fixture(scope="module")
def shuffled(project, tmp_path_factory):
    """Build the same lines in another order, in seven files (one compressed) named by a glob, in 13 partitions."""
    folder = tmp_path_factory.mktemp("shuffled_events")
    scatter(folder, LINES + CONTESTED, 7, "part")
    write(folder / "other.jsonl", [b"not of this log"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TANGLES_SHUFFLE_PARTITIONS", "13")
        return project("event_shuffled", event_log=str(folder / "part*")).run(*SELECTED)


@pytest.mark.parametrize("table", [*TABLES, "int_timeline_order"])
def test_order_of_lines_and_files(table, vectors, shuffled):
    """The order of lines and files does not change a table."""
    assert contents(vectors.project, table)
    assert contents(shuffled, table) == contents(vectors.project, table)


# ---------------------------------------------------------------------------------------------------------------------
# Batches of edits


@pytest.fixture(scope="module", params=[3, 1000])
def batched(request, vectors, project):
    """Build all timelines with larger batches."""
    log = vectors.project.vars["event_log"]
    built = project(f"event_batches_{request.param}", event_log=log, edit_batch_size=request.param)
    return request.param, Built(built.run(*SELECTED))


def test_order_after_every_batch(batched):
    """After each batch the fewest commands give the converged order of the arrivals so far."""
    size, built = batched
    for name, arrivals in SMALL_TIMELINES.items():
        built.check_timeline(name, arrivals, size)


@pytest.mark.parametrize("name", MEDIUM)
def test_batches_of_larger_timelines(name, batched):
    """The last order equals the peer's; of large batches, every one is compared with the oracle."""
    size, built = batched
    arrivals = MEDIUM[name]["arrivals"]
    scripts = built.scripts(name)
    assert list(scripts) == list(range(1, -(-len(arrivals) // size) + 1))
    assert built.replay(name) == MEDIUM[name]["order"]
    if size < 1000:
        return
    order = []
    for batch, commands in scripts.items():
        wanted = oracle.converged({event: set(causes) for event, causes in arrivals[: batch * size]})
        assert len(commands) == oracle.fewest_commands(order, wanted)
        order = oracle.replay(order, commands)
        assert order == wanted


def test_the_order_does_not_depend_on_batches(vectors, batched):
    for table in ("timeline_events", "timeline_rejects"):
        assert contents(batched[1].project, table) == contents(vectors.project, table)


def test_batch_size_zero_turns_edits_off(vectors, project):
    """Batch size 0 turns commands off; all other columns stay equal."""
    log = vectors.project.vars["event_log"]
    built = project("event_batches_0", event_log=log, edit_batch_size=0).run(*SELECTED)
    assert built.rows("timeline_edits") == []
    for table in ("timeline_events", "timeline_rejects"):
        assert contents(built, table) == contents(vectors.project, table)
    of_edits = ("edit_count", "edits_per_event", "p50", "p95", "p99", "max")
    assert contents(built, "timeline_stats", *of_edits) == contents(vectors.project, "timeline_stats", *of_edits)
    for row in built.rows("timeline_stats"):
        assert [row[name] for name in of_edits] == [0, 0.0, None, None, None, None]


def test_timelines_beyond_an_edit_limit_state_the_reason(project, tmp_path):
    """Above a limit a timeline has an order but lacks scripts; a build with another limit writes them."""
    logs = {
        "exploding": oracle.interleaved_chains(30),
        "long": [(f"{n}", []) for n in range(200)],
        "short": [("a", [])],
    }
    arrivals = [Arrival(name, event, after, n) for name, log in logs.items() for n, (event, after) in enumerate(log)]
    log = write(tmp_path / "log.jsonl", list(map(to_line, arrivals)))
    found = {}
    for limit in (960, 959, 10_000_000):
        built = project("event_commands", event_log=log, edit_limit=150, edit_command_limit=limit)
        built.run(*SELECTED)
        stats = {row["timeline_id"]: row for row in built.rows("timeline_stats")}
        found[limit] = {name: (row["event_count"], row["edit_count"], row["reason"]) for name, row in stats.items()}
        edits = Counter(row["timeline_id"] for row in built.rows("timeline_edits"))
        assert {name: count for name, (_, count, _) in found[limit].items() if count} == edits
    assert found[959] == {
        "exploding": (90, 0, "too_many_commands"),
        "long": (200, 0, "too_long"),
        "short": (1, 1, None),
    }
    assert found[960] == found[10_000_000] == found[959] | {"exploding": (90, 960, None)}


def test_max_previous(vectors, project):
    """Events with more distinct causes are refused; other rows equal those of a log without these events."""
    log = vectors.project.vars["event_log"]
    built = project("event_max_previous", event_log=log, max_previous=2, edit_batch_size=3)
    built = Built(built.run(*SELECTED))
    for name, arrivals in SMALL_TIMELINES.items():
        built.check_timeline(name, arrivals, 3, max_previous=2)
    reasons = Counter(row["reason"] for rows in built.rejects.values() for row in rows)
    assert all(reasons[reason] > 20 for reason in ("duplicate", "cycle", "conflict", "too_many_previous"))
    assert len(LINES + CONTESTED) == sum(map(len, built.events.values())) + sum(map(len, built.rejects.values()))
