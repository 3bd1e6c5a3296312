"""Builds of event logs: cases of the peer, random timelines, and the hostile lines of `event_stories`."""

import random
from collections import Counter

import pytest

import timeline_oracle as oracle
from event_builds import CAUTIOUS, SELECTED, Arrival, Built, to_line
from event_stories import CHAIN, DENSE, hostile_log
from hostile_lines import MAX_LINE_BYTES
from log_files import read_cases, without_places

SMALL, MEDIUM = (
    {case["id"]: case for case in read_cases(f"timelines/{name}.jsonl.gz")} for name in ("small", "medium")
)
CASES = SMALL | MEDIUM


def arrivals_of(case):
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
    return rng.choices([*names, "never"], k=rng.choice([0, 0, 1, 1, 2, 3]))


RANDOM = {f"random {seed}": random_arrivals(seed) for seed in range(30)}
# The same event at the same time: with other causes, another author, an empty author, without an author, or equal.
# All of them are refused, in any order of lines.
CONTESTED = {
    f"contested {number}": [
        Arrival(f"contested {number}", event, after, 1, author)
        for event, after in [
            ("e", ["a"]),
            ("e", ["b", "a"]),
            ("a", []),
            ("b", ["a"]),
            ("f", ["e"]),
            ("e", []),
            ("f", []),
        ]
        for author in ("x", "", "y", None, "x")
    ]
    for number in range(20)
}
SMALL_TIMELINES = {name: arrivals_of(case) for name, case in SMALL.items()} | RANDOM
#: The oracle is too slow for these timelines; all their arrivals are accepted.
MEDIUM_LINES = [to_line(arrival) for case in MEDIUM.values() for arrival in arrivals_of(case)]
OTHERS = [arrival for timelines in (SMALL_TIMELINES, CONTESTED) for log in timelines.values() for arrival in log]
LINES = [*map(to_line, OTHERS), *MEDIUM_LINES]
#: Timelines that exceed a limit for edits: of commands, and of events.
LONG = {
    "exploding": oracle.interleaved_chains(30),
    "long": [(f"{n}", []) for n in range(200)],
    "short": [("a", [])],
}
LONG_LINES = [
    to_line(Arrival(name, event, after, n)) for name, log in LONG.items() for n, (event, after) in enumerate(log)
]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """All lines, with the reason of each reject."""
    log = hostile_log(tmp_path_factory.mktemp("events"), OTHERS)
    log.files["medium.jsonl"] = MEDIUM_LINES
    return log


@pytest.fixture(scope="module")
def vectors(project, log):
    """Build all lines, with a script for every arrival."""
    return Built(project("event_vectors", event_log=log.write()).build(*SELECTED, *CAUTIOUS))


def contents(built, table, *left_out):
    """Return the rows of a table without places in files, but not those of hostile lines."""
    names = {*SMALL_TIMELINES, *MEDIUM, *CONTESTED}
    rows = [row for row in built.rows(table) if row["timeline_id"] in names]
    return sorted((without_places(row, *left_out) for row in rows), key=repr)


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


def test_order_after_every_arrival(log, vectors):
    """After each arrival, the fewest commands give the order of the valid lines."""
    assert vectors.events.keys() == (log.arrivals.keys() | MEDIUM.keys()) - CONTESTED.keys()
    for name in vectors.events.keys() - MEDIUM.keys() - {"newest first", "dense"}:
        vectors.check_timeline(name, [arrival for arrival, _ in log.arrivals[name]], 1)


def test_peer_errors_are_cycles(vectors):
    errors = {name: case["peer_error"]["at"] for name, case in CASES.items() if "peer_error" in case}
    assert errors
    for name, event in errors.items():
        [reject] = vectors.rejects[name]
        assert (reject["event_id"], reject["reason"]) == (event, "cycle")
        assert sorted(vectors.order(name)) == sorted({a for a, _ in CASES[name]["arrivals"]} - {event})


def test_all_lines_are_events_or_rejects(log, vectors):
    lines = sum(map(len, log.files.values()))
    assert lines == sum(map(len, vectors.events.values())) + sum(map(len, vectors.rejects.values()))
    log.check_rejects(vectors.project, "timeline_rejects")
    assert all(row["detail"] for rows in vectors.rejects.values() for row in rows)
    assert set(log.rejects.values()) == {"malformed", "duplicate", "cycle", "conflict"}
    assert {row["reason"] for name in CONTESTED for row in vectors.rejects[name]} == {"conflict"}


# ---------------------------------------------------------------------------------------------------------------------
# Hostile lines


def test_details_of_malformed_lines(vectors):
    malformed = [r for rows in vectors.rejects.values() for r in rows if r["reason"] == "malformed"]
    details = Counter(row["detail"] for row in malformed)
    assert details[f"line longer than {MAX_LINE_BYTES} bytes"] == 2
    for name in ("timeline", "event", "after", "arrival"):
        assert details[f"no {name}"]
    assert all(r["timeline_id"] is r["event_id"] is None for r in malformed if r["detail"].startswith("not JSON"))
    assert all((r["timeline_id"], r["event_id"]) == ("victim", "e") for r in malformed if r["detail"] == "no arrival")
    assert "victim" not in vectors.events


@pytest.mark.parametrize(("name", "events"), [("newest first", CHAIN), ("dense", DENSE)])
def test_large_timelines(name, events, vectors):
    """Every arrival sorts before all earlier events and raises their ranks by one: one `ins` command each."""
    assert vectors.order(name) == events
    assert [row["rank"] for row in vectors.rows(name)] == list(range(len(events)))
    assert list(vectors.scripts(name).values()) == [[("ins", event, None, 0)] for event in reversed(events)]


# ---------------------------------------------------------------------------------------------------------------------
# Vars


def test_limits_and_larger_batches(project):
    """Events with more distinct causes are refused; a timeline above a limit has an order, but lacks scripts."""
    limits = {"max_previous": 2, "edit_batch_size": 3, "edit_limit": 150, "edit_command_limit": 379}
    built = Built(project("event_limits", **limits).given(event_log=[*LINES, *LONG_LINES]).run(*SELECTED))
    for name, arrivals in SMALL_TIMELINES.items():
        built.check_timeline(name, arrivals, 3, max_previous=2)
    reasons = Counter(row["reason"] for rows in built.rejects.values() for row in rows)
    assert all(reasons[reason] > 20 for reason in ("duplicate", "cycle", "conflict", "too_many_previous"))
    lines = len(LINES) + len(LONG_LINES)
    assert lines == sum(map(len, built.events.values())) + sum(map(len, built.rejects.values()))
    assert left_out(built) == {"exploding": "too_many_commands", "long": "too_long", "short": None}


def left_out(built):
    """Return the reasons of the long timelines without scripts."""
    found = {}
    for name in LONG:
        [stats] = built.stats[name]
        assert stats["event_count"] == len(built.events[name]) == len(LONG[name])
        assert stats["edit_count"] == len(built.edits.get(name, []))
        assert (stats["edit_count"] == 0) == bool(stats["limit_reason"])
        found[name] = stats["limit_reason"]
    return found


@pytest.mark.long
@pytest.mark.parametrize("size", [0, 3, 1000])
def test_batch_sizes(vectors, project, size):
    """After each batch the fewest commands give the order of the arrivals so far, which batches do not change."""
    log = f"{vectors.project.vars['event_log']}/{{others,medium}}.jsonl"
    built = Built(project("event_batches", event_log=log, edit_batch_size=size).run(*SELECTED))
    for table in ("timeline_events", "timeline_rejects"):
        assert contents(built.project, table) == contents(vectors.project, table)
    if not size:
        assert not built.edits
        of_edits = ("edit_count", "edits_per_event", "edits_p50", "edits_p95", "edits_p99", "edits_max")
        stats = [contents(each.project, "timeline_stats", *of_edits) for each in (built, vectors)]
        assert stats[0] == stats[1]
        for [row] in built.stats.values():
            assert [row[name] for name in of_edits] == [0, 0.0, None, None, None, None]
        return
    for name, arrivals in SMALL_TIMELINES.items():
        built.check_timeline(name, arrivals, size)
    for name, case in MEDIUM.items():
        arrivals, scripts, order = case["arrivals"], built.scripts(name), []
        assert list(scripts) == list(range(1, -(-len(arrivals) // size) + 1))
        assert built.replay(name) == case["order"]
        for batch, commands in scripts.items() if size == 1000 else ():
            wanted = oracle.converged({event: set(causes) for event, causes in arrivals[: batch * size]})
            assert len(commands) == oracle.fewest_commands(order, wanted)
            order = oracle.replay(order, commands)
            assert order == wanted
