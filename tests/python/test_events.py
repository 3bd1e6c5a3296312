"""Event logs through dbt: order, edits and rejects of every timeline, whatever the lines hold and wherever they are.

What a timeline must come to is what the oracle makes of its arrivals, or what the package `scuttlesort` made of them.
"""

import gzip
import json
import random
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
import pytest

import timeline_oracle as oracle
from conftest import DATA
from test_bad_input import HOSTILE

TABLES = ("timeline_events", "timeline_links", "timeline_edits", "timeline_rejects", "timeline_stats")
SELECTED = ("--select", *(f"+{table}" for table in TABLES), "--exclude", "test_type:unit")
CAUTIOUS = ("--indirect-selection", "cautious")
MAX_LINE_BYTES = 2**21


class Arrival(NamedTuple):
    """A line of an event log."""

    timeline: str
    event: str
    after: list
    arrival: int
    author: str | None = None


def to_line(arrival: Arrival) -> bytes:
    """Print an arrival."""
    return json.dumps({name: value for name, value in arrival._asdict().items() if value is not None}).encode()


def write(folder: Path, **files: list[bytes]) -> Path:
    """Write files of lines."""
    for name, lines in files.items():
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return folder


# ---------------------------------------------------------------------------------------------------------------------
# What is expected


def sort(arrivals):
    """Put a timeline's arrivals in the order in which they count."""
    return sorted(arrivals, key=lambda a: (a.arrival, a.event))


def admit(arrivals, max_previous=None):
    """Let sorted arrivals in: the causes of each event that is in, and for each arrival None or why it is refused."""
    is_wide = [max_previous is not None and len(set(a.after) - {a.event}) > max_previous for a in arrivals]
    known, verdicts = oracle.admit([(a.event, a.after) for a, wide in zip(arrivals, is_wide, strict=True) if not wide])
    rest = iter(verdicts)
    return known, ["too_many_previous" if wide else next(rest) for wide in is_wide]


def rows_of(known, arrivals):
    """Return what `timeline_events` must hold of a timeline, where the arrivals are those that got in."""
    rank, tips = oracle.ranks(known), set(oracle.tips(known))
    accepted = {a.event: a for a in arrivals}
    return [
        {
            "event_id": event,
            "rank": rank[event],
            "position": position,
            "is_tip": event in tips,
            "missing_causes": sorted(known[event] - known.keys()),
            "arrival": accepted[event].arrival,
            "author": accepted[event].author,
        }
        for position, event in enumerate(oracle.converged(known))
    ]


# ---------------------------------------------------------------------------------------------------------------------
# What was built


class Built:
    """The tables of a build, by timeline."""

    def __init__(self, project):
        """Read them."""
        self.project = project
        self.events = grouped(project.rows("timeline_events"))
        self.edits = grouped(project.rows("timeline_edits"))
        self.rejects = grouped(project.rows("timeline_rejects"))
        self.stats = grouped(project.rows("timeline_stats"))

    def rows(self, timeline):
        """Return the events of a timeline by their position."""
        rows = sorted(self.events[timeline], key=lambda row: row["position"])
        assert [row["position"] for row in rows] == list(range(len(rows)))
        return rows

    def order(self, timeline):
        """Return the names of the same."""
        return [row["event_id"] for row in self.rows(timeline)]

    def scripts(self, timeline):
        """Return the commands of each batch in their order."""
        scripts = defaultdict(list)
        for row in sorted(self.edits.get(timeline, []), key=lambda row: (row["batch"], row["step"])):
            scripts[row["batch"]].append((row["op"], row["event_id"], row["from_position"], row["to_position"]))
            assert row["step"] == len(scripts[row["batch"]])
        return dict(scripts)

    def replay(self, timeline):
        """Return what all commands come to."""
        order = []
        for commands in self.scripts(timeline).values():
            order = oracle.replay(order, commands)
        return order

    def check_timeline(self, timeline, arrivals, size, max_previous=None):
        """Compare all that was made of a timeline with the oracle, after every batch."""
        arrivals = sort(arrivals)
        known, verdicts = admit(arrivals, max_previous)
        accepted = [a for a, verdict in zip(arrivals, verdicts, strict=True) if verdict is None]
        expected = rows_of(known, accepted)
        found = self.rows(timeline)
        assert [{name: row[name] for name in expected[0]} for row in found] == expected
        refused = Counter((a.event, v) for a, v in zip(arrivals, verdicts, strict=True) if v is not None)
        # What is malformed is no arrival and may name the timeline nevertheless.
        rejects = [row for row in self.rejects.get(timeline, []) if row["reason"] != "malformed"]
        assert Counter((row["event_id"], row["reason"]) for row in rejects) == refused

        scripts = self.scripts(timeline)
        self.check_stats(timeline, accepted, [len(commands) for commands in scripts.values()])
        order = []
        for batch, count in enumerate(range(size, len(arrivals) + size, size), start=1):
            wanted = oracle.converged(admit(arrivals[:count], max_previous)[0])
            commands = scripts.pop(batch, [])
            assert len(commands) == oracle.fewest_commands(order, wanted), (timeline, batch)
            order = oracle.replay(order, commands)
            assert order == wanted, (timeline, batch)
        assert not scripts

    def check_stats(self, timeline, accepted, counts):
        """Compare a timeline's row of `timeline_stats` with its events and the commands of each of its scripts."""
        [stats] = self.stats[timeline]
        assert stats["event_count"] == len(accepted)
        assert stats["author_count"] == len({a.author for a in accepted} - {None})
        assert stats["rank_count"] == 1 + max(row["rank"] for row in self.events[timeline])
        assert stats["edit_count"] == sum(counts)
        assert stats["edits_per_event"] == pytest.approx(sum(counts) / len(accepted))
        assert [stats["p50"], stats["p95"], stats["p99"]] == pytest.approx(np.percentile(counts, [50, 95, 99]).tolist())
        assert stats["max"] == max(counts)


def grouped(rows):
    """Group rows by timeline."""
    groups = {}
    for row in rows:
        groups.setdefault(row["timeline_id"], []).append(row)
    return groups


def contents(project, table, *left_out):
    """Read a table without what depends on files by its nature, rows in a fixed order."""
    left_out = {*left_out, "source_file", "line"}
    rows = ({name: value for name, value in row.items() if name not in left_out} for row in project.rows(table))
    return sorted((tuple(row.items()) for row in rows), key=repr)


# ---------------------------------------------------------------------------------------------------------------------
# Timelines with known answers, and random ones


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
    """Make a timeline with duplicates, cycles, missing causes, ties and gaps; an event arrives once at a time."""
    rng = random.Random(seed)
    names = [f"{chance}{place}" for place, chance in enumerate(rng.sample("abcdefgh", 8))]
    keys = rng.sample([(arrival * 7 - 20, name) for arrival in range(8) for name in names], 24)
    return [
        Arrival(f"random {seed}", name, rng.choices([*names, "never"], k=rng.choice([0, 0, 1, 1, 2, 3])), arrival)
        for arrival, name in keys
    ]


RANDOM = {f"random {seed}": random_arrivals(seed) for seed in range(30)}
TIMELINES = {name: arrivals_of(case) for name, case in CASES.items()} | RANDOM
SMALL_TIMELINES = {name: arrivals for name, arrivals in TIMELINES.items() if name not in MEDIUM}
LINES = [to_line(arrival) for arrivals in TIMELINES.values() for arrival in arrivals]

# The same event at the same time with other causes, another author, one without a name, none, or nothing else: which
# one stays is not said, but it must not be for the order of lines to say.
CONTESTED = [
    to_line(Arrival(f"contested {number}", event, after, 1, author))
    for number in range(20)
    for event, after in [("e", ["a"]), ("e", ["b", "a"]), ("a", []), ("b", ["a"]), ("f", ["e"]), ("e", []), ("f", [])]
    for author in ("x", "", "y", None, "x")
]


@pytest.fixture(scope="module")
def vectors(project, tmp_path_factory):
    """Build all timelines, a script for every arrival."""
    folder = write(tmp_path_factory.mktemp("vectors"), log=LINES + CONTESTED)
    return Built(project("event_vectors", event_log=str(folder)).build(*SELECTED, *CAUTIOUS))


def test_random_timelines_have_everything():
    """What they are for."""
    verdicts = Counter(verdict for arrivals in RANDOM.values() for verdict in admit(sort(arrivals))[1])
    assert all(verdicts[verdict] > 20 for verdict in (None, "duplicate", "cycle"))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "peer_error" not in case])
def test_peer_agrees(name, vectors):
    """Order, ranks and tips are the peer's; the commands lead there, and no arrival takes more of them than there."""
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
def test_every_arrival(name, vectors):
    """After each arrival the order is the converged one, by the fewest commands. Cycles are refused by our own rule."""
    vectors.check_timeline(name, SMALL_TIMELINES[name], 1)


def test_peer_errors_are_cycles(vectors):
    """Where the peer raises, the event that closes the cycle is refused, and nothing else is."""
    errors = {name: case["peer_error"]["at"] for name, case in CASES.items() if "peer_error" in case}
    assert errors
    for name, event in errors.items():
        [reject] = vectors.rejects[name]
        assert (reject["event_id"], reject["reason"]) == (event, "cycle")
        assert sorted(vectors.order(name)) == sorted({a for a, _ in CASES[name]["arrivals"]} - {event})


def test_all_lines_are_events_or_rejects(vectors):
    assert len(LINES + CONTESTED) == sum(map(len, vectors.events.values())) + sum(map(len, vectors.rejects.values()))
    assert {row["reason"] for rows in vectors.rejects.values() for row in rows} == {"duplicate", "cycle"}


@pytest.fixture(scope="module")
def shuffled(project, tmp_path_factory):
    """Build the same lines in another order, seven files, one of them packed, named by a glob; in 13 partitions."""
    rng = random.Random(5)
    lines = rng.sample(LINES + CONTESTED, len(LINES + CONTESTED))
    cuts = [0, *sorted(rng.sample(range(len(lines)), 6)), len(lines)]
    folder = tmp_path_factory.mktemp("shuffled_events")
    write(folder, **{f"part{number}": lines[start:end] for number, (start, end) in enumerate(pairwise(cuts))})
    packed = folder / "part3.jsonl"
    (folder / "part3.jsonl.gz").write_bytes(gzip.compress(packed.read_bytes()))
    packed.unlink()
    (folder / "other.jsonl").write_bytes(b"not of this log\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TANGLES_SHUFFLE_PARTITIONS", "13")
        return project("event_shuffled", event_log=str(folder / "part*")).build(*SELECTED, *CAUTIOUS)


@pytest.mark.parametrize("table", [*TABLES, "int_timeline_order"])
def test_order_of_lines_and_files(table, vectors, shuffled):
    """Every table is the same."""
    assert contents(vectors.project, table)
    assert contents(shuffled, table) == contents(vectors.project, table)


# ---------------------------------------------------------------------------------------------------------------------
# Batches of edits


@pytest.fixture(scope="module", params=[3, 1000])
def batched(request, vectors, project):
    """Build all timelines with fewer scripts."""
    log = vectors.project.vars["event_log"]
    built = project(f"event_batches_{request.param}", event_log=log, edit_batch_size=request.param)
    return request.param, Built(built.build(*SELECTED, *CAUTIOUS))


def test_every_batch(batched):
    """After each batch the order is the converged one of the arrivals so far, by the fewest commands."""
    size, built = batched
    for name, arrivals in SMALL_TIMELINES.items():
        built.check_timeline(name, arrivals, size)


@pytest.mark.parametrize("name", MEDIUM)
def test_batches_of_larger_timelines(name, batched):
    """The last order is the peer's; large batches are few enough to look at each."""
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


def test_no_batches(vectors, project):
    """With size 0 there are no commands, and all else is the same."""
    log = vectors.project.vars["event_log"]
    built = project("event_batches_0", event_log=log, edit_batch_size=0).build(*SELECTED, *CAUTIOUS)
    assert built.rows("timeline_edits") == []
    for table in ("timeline_events", "timeline_rejects"):
        assert contents(built, table) == contents(vectors.project, table)
    of_edits = ("edit_count", "edits_per_event", "p50", "p95", "p99", "max")
    assert contents(built, "timeline_stats", *of_edits) == contents(vectors.project, "timeline_stats", *of_edits)
    for row in built.rows("timeline_stats"):
        assert [row[name] for name in of_edits] == [0, 0.0, None, None, None, None]


def test_timelines_without_scripts_say_why(project, tmp_path):
    """A limit takes the scripts of a timeline, never its order; another limit makes them anew."""
    logs = {
        "exploding": oracle.interleaved_chains(30),
        "long": [(f"{n}", []) for n in range(200)],
        "short": [("a", [])],
    }
    arrivals = [Arrival(name, event, after, n) for name, log in logs.items() for n, (event, after) in enumerate(log)]
    log = str(write(tmp_path, log=list(map(to_line, arrivals))) / "log.jsonl")
    found = {}
    for limit in (960, 959, 10_000_000):
        built = project("event_commands", event_log=log, edit_limit=150, edit_command_limit=limit)
        built.build(*SELECTED, *CAUTIOUS)
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
    """Events with more distinct causes are refused, and the rest is what follows without them."""
    log = vectors.project.vars["event_log"]
    built = project("event_max_previous", event_log=log, max_previous=2, edit_batch_size=3)
    built = Built(built.build(*SELECTED, *CAUTIOUS))
    for name, arrivals in SMALL_TIMELINES.items():
        built.check_timeline(name, arrivals, 3, max_previous=2)
    reasons = Counter(row["reason"] for rows in built.rejects.values() for row in rows)
    assert all(reasons[reason] > 20 for reason in ("duplicate", "cycle", "too_many_previous"))
    assert len(LINES + CONTESTED) == sum(map(len, built.events.values())) + sum(map(len, built.rejects.values()))


# ---------------------------------------------------------------------------------------------------------------------
# Hostile lines


class Log:
    """A folder of files, with what each line should come to.

    Attributes:
        malformed: Files and numbers of the lines that are no events.
        arrivals: The others with their file and number, by timeline.
    """

    def __init__(self, folder):
        """Start with no lines."""
        self.folder = folder
        self.files = defaultdict(list)
        self.malformed = set()
        self.arrivals = defaultdict(list)

    def bad(self, *lines, file="log.jsonl"):
        """Add lines that are no events."""
        for line in lines:
            self.files[file].append(line)
            self.malformed.add((file, len(self.files[file])))

    def good(self, timeline, event, after=(), arrival=0, author=None, line=None, file="log.jsonl"):
        """Add a line that is an event, printed in a way of its own where `line` is given."""
        found = Arrival(timeline, event, list(after), arrival, author)
        self.files[file].append(to_line(found) if line is None else line)
        self.arrivals[timeline].append((found, (file, len(self.files[file]))))

    def write(self):
        """Write the files and return what is to be the var `event_log`."""
        for name, lines in self.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = b"\n".join(lines) + b"\n"
            path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        return str(self.folder)

    def rejects(self):
        """Return the reason by file and line."""
        reasons = dict.fromkeys(self.malformed, "malformed")
        for arrivals in self.arrivals.values():
            ordered = sorted(arrivals, key=lambda found: (found[0].arrival, found[0].event))
            verdicts = admit([arrival for arrival, _ in ordered])[1]
            reasons |= {at: verdict for (_, at), verdict in zip(ordered, verdicts, strict=True) if verdict}
        return reasons


def add_malformed(log):
    """Add lines that are no events, however they are read."""
    log.bad(b"", b"   ", b"\t\r", b"\0", b"\0" * 5000, b"nope", b"{", b"NaN", b"null", b"[]", b"7", b'"e"', b"{}")
    log.bad(b"\xff", b'"\xed\xa0\x80"', b"\xef\xbb\xbf{}", b"{}{}", b"[" * 10_000, b"[" * 10_000 + b"]" * 10_000)
    log.bad(b'{"a":' * 10_000 + b"1" + b"}" * 10_000)
    log.bad(*(text.encode() for text in HOSTILE if "\n" not in text))
    sound = {"timeline": "victim", "event": "e", "after": [], "arrival": 1}
    for name in sound:
        log.bad(json.dumps({key: value for key, value in sound.items() if key != name}).encode())
        for odd in (None, "", 1.5, True, {}, [""], [None], [[]], {"a": 1}, 2**63, -(2**63) - 1):
            log.bad(json.dumps(sound | {name: odd}).encode())
    log.bad(*(json.dumps(sound | {"author": odd}).encode() for odd in (7, False, [], {})))
    log.bad(*(json.dumps(sound | {"arrival": odd}).encode() for odd in ("1", 1e300, float("nan"), float("inf"))))
    for name in ("timeline", "event", "author"):
        log.bad(json.dumps(sound | {name: "\ud800"}).encode())
    log.bad(json.dumps(sound | {"after": ["\udc00"]}).encode())
    log.bad(b'{"timeline":"victim","event":"e","arrival":1,"after":[' + b"[" * 2000 + b"]" * 2000 + b"]}")
    log.bad(to_line(Arrival("victim", "long", ["x" * 3_000_000], 1)), file="long.jsonl")
    log.bad(*random.Random(1).randbytes(50_000).split(b"\n"), file="garbage.bin")
    log.bad(*gzip.compress(b"not named .gz").split(b"\n"), file="compressed.jsonl")
    (log.folder / "empty.jsonl").touch()
    (log.folder / "empty.jsonl.gz").write_bytes(gzip.compress(b""))


def add_odd_names(log):
    """Add names that mean something to SQL, Jinja, Python or a printer, in every place that takes a name."""
    names = [
        *filter(None, HOSTILE),
        "'); drop table x; --",
        "{{ var('x') }}",
        "\uffff",
        "\U00010000",
        "\U0010ffff",
        "a\0",
    ]
    names = list(dict.fromkeys(names))
    for place, name in enumerate(names):
        log.good("roots", name, arrival=place, author=name)
        log.good("chain", name, names[max(place - 1, 0) : place], arrival=-place)
        log.good(name, name, [f"{name} lost", name], arrival=1, author=name)
        log.good(name, "follower", [name, name], arrival=2, author=name)
        log.good(name, name, ["follower"], arrival=3, author=name)


def add_odd_numbers(log):
    """Add arrivals at the ends of what 64 bits hold, ties, and cycles that ties decide."""
    for event, arrival in [("last", 2**63 - 1), ("first", -(2**63)), ("zero", 0), ("minus", -1), ("large", 2**53 + 1)]:
        log.good("numbers", event, ["last"], arrival)
    log.good("numbers", "larger", ["zero"], 2**53 + 2)
    log.good("numbers", "larger", ["large"], 2**53)
    for event, after in [("c", ["d"]), ("a", ["c"]), ("b", []), ("d", ["a"]), ("😀", ["\uffff"]), ("\uffff", ["😀"])]:
        log.good("ties", event, after, 5)
    log.good("ties", "a", [], 6)


def add_odd_lines(log):
    """Add sound lines that do not look it: long, wide, spaced, escaped, with keys twice, in odd files."""
    log.good("wide", "root", [f"c{number:06}" for number in range(100_000)])
    log.good("wide", "same", ["root"] * 200_000, 1)
    long = "x" * 500_000
    log.good("long", long, arrival=1)
    log.good("long", long + "y", [long], arrival=2)
    log.good(long, long, [long])
    found = Arrival("padded", "p", [], 1)
    log.good(*found[:4], line=to_line(found).ljust(MAX_LINE_BYTES), file="long.jsonl")
    log.bad(to_line(found).ljust(MAX_LINE_BYTES + 1), file="long.jsonl")
    log.good("padded", "q", ["p"], 2, file="long.jsonl")
    log.good("odd", "a", [], 1, line=b' {"timeline":"odd", "event":"a", "after":[ ], "arrival":1, "x":[[{}]]}\r')
    log.good("odd", "b", ["a"], 2, line=rb'{"timeline":"\u006fdd","event":"b","after":["\u0061"],"arrival":2}')
    twice = b'{"arrival":7,"event":"no","timeline":7,"timeline":"odd","event":"c","after":["b"],"arrival":3}'
    log.good("odd", "c", ["b"], 3, line=twice)
    log.good("odd", "d", ["c"], 4, line=b'{"timeline":"odd","event":"d","after":["c"],"arrival":4,"author":null}')
    log.good("odd", "e", ["d"], 5, author="", file="folder/a=1/packed.jsonl.gz")
    log.bad(b"{}", file="folder/a=1/packed.jsonl.gz")
    log.good("odd", "f", ["e"], 6, file='it\'s {{ 1/0 }} 100% "good" [?*].jsonl')
    log.bad(b"{}", file='it\'s {{ 1/0 }} 100% "good" [?*].jsonl')


CHAIN = [f"link {number:04}" for number in range(2000)]
DENSE = [f"d{number:03}" for number in range(150)]


def add_large(log):
    """Add what takes a careless algorithm long: each arrival lifts all that came before."""
    for place, event in enumerate(CHAIN):
        log.good("newest first", event, CHAIN[max(place - 1, 0) : place], -place)
    for place, event in enumerate(DENSE):
        log.good("dense", event, DENSE[:place], -place)


@pytest.fixture(scope="module")
def hostile(project, tmp_path_factory):
    """Build all that."""
    log = Log(tmp_path_factory.mktemp("hostile_events"))
    for add in (add_malformed, add_odd_names, add_odd_numbers, add_odd_lines):
        add(log)
    reasons = log.rejects()
    # The oracle takes too long for these, in which nothing is refused.
    add_large(log)
    built = project("event_hostile", event_log=log.write()).build(*SELECTED, *CAUTIOUS)
    return log, reasons, Built(built)


def test_every_hostile_line_has_its_reason(hostile):
    """Rows are lines minus rejects, and each reject says what it is and where."""
    log, reasons, built = hostile
    found = {}
    for row in built.project.rows("timeline_rejects"):
        at = unquote(row["source_file"]).partition(f"{log.folder}/")[2], row["line"]
        assert at not in found
        assert row["detail"]
        found[at] = row["reason"]
    assert found == reasons
    assert set(reasons.values()) == {"malformed", "duplicate", "cycle"}
    lines = sum(map(len, log.files.values()))
    assert sum(map(len, built.events.values())) == lines - len(reasons)


def test_details_of_malformed_lines(hostile):
    """The ids are there as far as they can be read."""
    _, _, built = hostile
    malformed = [r for rows in built.rejects.values() for r in rows if r["reason"] == "malformed"]
    details = Counter(row["detail"] for row in malformed)
    assert details[f"line longer than {MAX_LINE_BYTES} bytes"] == 2
    for name in ("timeline", "event", "after", "arrival"):
        assert details[f"no {name}"]
    assert all(r["timeline_id"] is r["event_id"] is None for r in malformed if r["detail"].startswith("not JSON"))
    assert all((r["timeline_id"], r["event_id"]) == ("victim", "e") for r in malformed if r["detail"] == "no arrival")
    assert "victim" not in built.events


def test_hostile_timelines(hostile):
    """Each is what its sound lines make of it, after every arrival."""
    log, _, built = hostile
    assert built.events.keys() == log.arrivals.keys()
    for name, arrivals in log.arrivals.items():
        if name not in ("newest first", "dense"):
            built.check_timeline(name, [arrival for arrival, _ in arrivals], 1)


def test_names_sort_by_code_point(hostile):
    """Not by UTF-16 units, nor by locale."""
    order = hostile[2].order("roots")
    assert order == sorted(order, key=lambda name: [ord(character) for character in name])
    assert order.index("\uffff") < order.index("\U00010000") < order.index("😀") < order.index("\U0010ffff")


def test_wide_line(hostile):
    """100,000 causes that never arrive are listed in order."""
    [root, same] = hostile[2].rows("wide")
    assert root["missing_causes"] == [f"c{number:06}" for number in range(100_000)]
    assert (root["rank"], same["rank"], same["missing_causes"]) == (0, 1, [])


@pytest.mark.parametrize(("name", "events"), [("newest first", CHAIN), ("dense", DENSE)])
def test_large_timelines(name, events, hostile):
    """Every arrival is the first of the order that it lifts by one: one `ins` each."""
    built = hostile[2]
    assert built.order(name) == events
    assert [row["rank"] for row in built.rows(name)] == list(range(len(events)))
    scripts = built.scripts(name)
    assert list(scripts.values()) == [[("ins", event, None, 0)] for event in reversed(events)]


# ---------------------------------------------------------------------------------------------------------------------
# Paths and vars


def test_no_event(project, tmp_path):
    """A log without a sound line gives rejects and nothing else."""
    log = write(tmp_path, log=[b"{}", b"", b"x"])
    built = project("event_none", event_log=str(log)).build(*SELECTED, *CAUTIOUS)
    assert {table: len(built.rows(table)) for table in TABLES} == {
        table: 3 * table.endswith("rejects") for table in TABLES
    }
