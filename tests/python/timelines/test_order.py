"""`order_timelines` against the oracle: any arrivals, any batch size, any split into runs."""

import itertools
import json
import random
from types import SimpleNamespace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import timeline_oracle as oracle
from bench import model_runner
from dbt_tangles.algorithms.timeline.order import order_timelines
from dbt_tangles.algorithms.timeline.schemas import PUBLISHED, Arrival
from dbt_tangles.kernel_runtime.rows_on_disk import NO_LIMIT

NAMES = "abcdefgh"
PLACE = ("rank", "latest_rank", "position", "is_tip", "is_tie_broken", "missing_causes")
OF_RUNS = ("previous_publication", "update_step", "update_from_position", "update_to_position")
arrivals = st.lists(st.tuples(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES + "yz"), max_size=3)), max_size=10)
logs = st.lists(arrivals.filter(len), min_size=1, max_size=4)


def rows_of(timeline: str, log: list[oracle.Arrival]) -> list[dict]:
    return [
        {
            "timeline_id": timeline,
            "event_id": name,
            "causes": list(dict.fromkeys(causes)),
            "arrival": 10 * number,
            "line": number,
        }
        for number, (name, causes) in enumerate(log)
    ]


def table_of(rows: list[dict], published: list[dict] = ()) -> pa.Table:
    """Return a table in several chunks, with rows in any order."""
    rows = [{**row, "is_published": False} for row in rows]
    names = ("timeline_id", "event_id", *PUBLISHED)
    rows += [{"is_published": True, **{name: row[name] for name in names}} for row in published]
    random.Random(len(rows)).shuffle(rows)
    half = len(rows) // 2
    parts = (rows[:half], rows[half:])
    return pa.concat_tables([pa.Table.from_pylist(part, order_timelines.reads) for part in parts])


def script_of(steps: list[tuple]) -> list[tuple]:
    """Return commands, given as (step, event, from, to), as the oracle takes them; their steps must count from 1."""
    assert sorted(step for step, *_ in steps) == list(range(1, len(steps) + 1))
    return [("ins" if taken is None else "mov", name, taken, put) for _, name, taken, put in sorted(steps)]


def in_order(rows: list[dict]) -> list[str]:
    """Return the events by position; positions must be consecutive."""
    placed = sorted((row["position"], row["event_id"]) for row in rows if row["reason"] is None)
    assert [position for position, _ in placed] == list(range(len(placed)))
    return [name for _, name in placed]


def check(log: list[oracle.Arrival], rows: list[dict], batch_size: int) -> None:
    conflicts = oracle.conflicts(log)
    known, verdicts = oracle.admit(log, conflicts)
    rows = sorted(rows, key=lambda row: row["ordinal"])
    assert [row["ordinal"] for row in rows] == list(range(1, len(log) + 1))
    assert [row["reason"] for row in rows] == verdicts
    check_places(rows, known)
    for row in rows:
        if row["reason"] is None:
            assert row["cyclic_causes"] == ([row["event_id"]] if row["event_id"] in row["causes"] else [])
        else:
            assert all(row[name] is None for name in (*PLACE, "edits"))
    ends = range(batch_size, len(log) + batch_size, batch_size) if batch_size else ()
    check_scripts(rows, [oracle.converged(oracle.admit(log[:end], conflicts[:end])[0]) for end in ends])


def check_places(rows: list[dict], graph: dict[str, set[str]]) -> None:
    """Compare the places of admitted events with those of a graph."""
    placed = sorted((row for row in rows if row["reason"] is None), key=lambda row: row["position"])
    found = [(row["event_id"], {name: row[name] for name in PLACE}) for row in placed]
    assert found == list(oracle.places(graph).items())


def check_scripts(rows: list[dict], orders: list[list[str]]) -> None:
    """Replay the scripts of all batches: each is the shortest that leads to the order behind its batch."""
    edits = [(row["event_id"], edit) for row in rows for edit in row["edits"] or []]
    replica: list[str] = []
    for batch, wanted in enumerate(orders, 1):
        steps = [(e["step"], name, e["from_position"], e["to_position"]) for name, e in edits if e["batch"] == batch]
        script = script_of(steps)
        assert len(script) == oracle.fewest_commands(replica, wanted)
        replica = oracle.replay(replica, script)
        assert replica == wanted
    assert all(1 <= edit["batch"] <= len(orders) for _, edit in edits)


def ordered(table: pa.Table, batch_size: int, edit_limit: int = NO_LIMIT, **limits: int) -> list[dict]:
    """Return the places of the arrivals, in the order of the input."""
    batches = iter(table.to_batches(max_chunksize=7))
    columns = order_timelines.writes.names
    places = [batch.select(columns) for batch in order_timelines(batches, batch_size, edit_limit, **limits)]
    return pa.Table.from_batches(places, order_timelines.writes).to_pylist()


def of_timeline(rows: list[dict], timeline: str) -> list[dict]:
    return [row for row in rows if row["timeline_id"] == timeline]


def lasting(rows: list[dict]) -> list[str]:
    """Return the rows without columns about runs, in a fixed order."""
    return sorted(json.dumps({k: v for k, v in row.items() if k not in OF_RUNS}, sort_keys=True) for row in rows)


@given(logs, st.integers(0, 4), st.sampled_from([1, 5, NO_LIMIT]))
def test_any_arrivals(many, batch_size, in_memory):
    rows = [row for number, log in enumerate(many) for row in rows_of(str(number), log)]
    answer = ordered(table_of(rows), batch_size, rows_in_memory=in_memory)
    assert len(answer) == len(rows)
    for number, log in enumerate(many):
        check(log, of_timeline(answer, str(number)), batch_size)


@given(logs, st.integers(0, 3), st.data())
def test_any_split_into_runs(many, batch_size, data):
    """Each run adds to the log anywhere, not only at its end; the last one may also remove rows."""
    every = [row for number, log in enumerate(many) for row in rows_of(str(number), log)]
    whole = ordered(table_of(every), batch_size)
    published: list[dict] = []
    for _ in range(data.draw(st.integers(1, 3), "runs")):
        some = [row for row in every if data.draw(st.booleans())]
        published = run(some, published, batch_size)
    assert lasting(run(every, published, batch_size)) == lasting(whole)


def run(rows: list[dict], published: list[dict], batch_size: int) -> list[dict]:
    """Order the rows of a run, and follow its updates."""
    answer = ordered(table_of(rows, published), batch_size, rows_in_memory=len(rows))
    for timeline in {row["timeline_id"] for row in rows}:
        before, after = of_timeline(published, timeline), of_timeline(answer, timeline)
        old, new = in_order(before), in_order(after)
        goes_on = before and set(old) <= set(new)
        publications = {(row["previous_publication"], row["publication"]) for row in after}
        assert len(publications) == 1
        previous, publication = publications.pop()
        if goes_on and old == new:  # the earlier script stays
            assert scripts(after) == scripts(before)
            assert publication == before[0]["publication"]
            continue
        assert previous == (before[0]["publication"] if goes_on else None)
        assert previous != publication
        old = old if goes_on else []
        columns = ("update_step", "event_id", "update_from_position", "update_to_position")
        steps = [tuple(row[name] for name in columns) for row in after if row["update_step"] is not None]
        script = script_of(steps)
        assert len(script) == oracle.fewest_commands(old, new)
        assert oracle.replay(old, script) == new
    return answer


def scripts(rows: list[dict]) -> list[tuple]:
    """Return each event's part in the script of the published order, for a timeline."""
    names = ("event_id", "previous_publication", "update_step", "update_from_position", "update_to_position")
    return sorted((tuple(row[name] for name in names) for row in rows if row["reason"] is None), key=repr)


@pytest.mark.parametrize("other", [{"causes": ["b"]}, {"causes": ["b", "c", "a"]}, {"author": "y"}, {"author": None}])
def test_lines_that_contradict_each_other_are_all_refused(other):
    """In any delivery, whichever arrives first; a row that lists the causes in another order says the same."""
    same = {"timeline_id": "t", "event_id": "a", "author": "x"}
    said = [same | {"causes": ["b", "c"]}, same | {"causes": ["c", "b"]}, same | {"causes": ["b", "c"]} | other]
    follower = {"timeline_id": "t", "event_id": "d", "causes": ["a"], "arrival": 4}
    for delivery in itertools.permutations(said):
        for arrivals in ((1, 2, 3), (5, 5, 5)):
            rows = [row | {"arrival": place} for row, place in zip(delivery, arrivals, strict=True)]
            answer = ordered(table_of([*rows, follower]), 1)
            assert [row["reason"] for row in answer if row["event_id"] == "a"] == ["conflict"] * 3
            assert [row["missing_causes"] for row in answer if row["event_id"] == "d"] == [["a"]]
    equal = [row | {"arrival": 5} for row in said[:2]]
    assert sorted(row["reason"] or "" for row in ordered(table_of(equal), 1)) == ["", "duplicate"]


# An empty arrival, and arrivals that differ from it in one column; each value occurs once.
SAID = [
    {},
    *({"causes": causes} for causes in ([], [None], [""], ["b"], ["b", None])),
    *({name: value} for name in ("author", "refusal", "source_file") for value in ("", "x")),
    *({name: value} for name in ("arrival", "line") for value in (0, -1)),
    {"received_ms": 0.0},
]


def test_nulls_and_empties_are_told_apart():
    """Any three lines of one event have the same order in any delivery; some differ only by null and empty values."""
    timelines = list(itertools.combinations(SAID, 3))
    answers = []
    for places in itertools.permutations(range(3)):
        rows = [
            {"timeline_id": str(number), "event_id": "a", **said[place]}
            for number, said in enumerate(timelines)
            for place in places
        ]
        answers.append(lasting(ordered(pa.Table.from_pylist(rows, order_timelines.reads), 1)))
    assert len(answers[0]) == 3 * len(timelines)
    assert all(answer == answers[0] for answer in answers)


def test_refused_beforehand():
    """A refusal keeps its reason and leaves no trace; its id may arrive again, but only with the same content."""
    rows = rows_of("t", [("a", ["b"]), ("b", ["a"]), ("a", ["b"]), ("c", ["b"]), ("c", []), ("e", []), ("e", [])])
    rows[0]["refusal"] = rows[3]["refusal"] = rows[5]["refusal"] = "too_many_previous"
    answer = sorted(ordered(table_of(rows), 1), key=lambda row: row["ordinal"])
    refusals = ["too_many_previous", None, "cycle", "too_many_previous", "conflict", "too_many_previous", None]
    assert [row["reason"] for row in answer] == refusals
    assert in_order(answer) == ["b", "e"]


# The messages of a log: the listed previous of each, and the links from its feed.
messages = st.dictionaries(
    st.sampled_from(NAMES),
    st.tuples(st.sets(st.sampled_from(NAMES + "z"), max_size=3), st.sets(st.sampled_from(NAMES + "y"), max_size=2)),
    min_size=1,
)


def message_rows(timeline: str, log: dict[str, tuple[set, set]], order: list[str]) -> list[dict]:
    """Return rows of messages that arrive in this order."""
    rows = []
    for number, name in enumerate(order):
        listed, feed = (part - {name} for part in log[name])
        causes = sorted(listed | feed)
        kinds = ["tangle" if cause in listed else "unproven_feed" for cause in causes]
        row = {"timeline_id": timeline, "event_id": name, "arrival": number}
        rows.append(row | {"causes": causes, "cause_kinds": kinds})
    return rows


@given(messages, st.integers(0, 2), st.data())
def test_messages_in_any_delivery(log, batch_size, data):
    """All messages are admitted despite contradictions; order, ranks and links depend on the set, as in the oracle."""
    every = {name: set(listed | feed) - {name} for name, (listed, feed) in log.items()}
    weak = {name: feed - listed - {name} for name, (listed, feed) in log.items()}
    kept = oracle.without_cycles(every, weak)
    found = []
    for timeline in "12":
        delivery = data.draw(st.permutations(sorted(log)), f"delivery {timeline}")
        strangers = rows_of("other", [("a", ["b"]), ("b", ["a"])])  # Their cycle is refused and affects only them.
        answer = ordered(table_of(message_rows(timeline, log, delivery) + strangers), batch_size)
        assert [row["reason"] for row in of_timeline(answer, "other")].count("cycle") == 1
        rows = of_timeline(answer, timeline)
        check_places(rows, kept)
        for row in rows:
            assert row["reason"] is None
            assert row["cyclic_causes"] == sorted(every[row["event_id"]] - kept[row["event_id"]])
        ends = range(batch_size, len(log) + batch_size, batch_size) if batch_size else ()
        check_scripts(rows, [oracle.converged({name: kept[name] for name in delivery[:end]}) for end in ends])
        found.append([(row["event_id"], row["publication"]) for row in sorted(rows, key=lambda row: row["position"])])
    assert found[0] == found[1]


@given(messages, st.integers(1, 2), st.data())
def test_messages_in_any_runs(log, batch_size, data):
    """Cycles that come and go with messages change published scripts."""
    rows = message_rows("t", log, data.draw(st.permutations(sorted(log)), "delivery"))
    whole = ordered(table_of(rows), batch_size)
    some = [row for row in rows if data.draw(st.booleans())]
    published = ordered(table_of(some), batch_size)
    assert lasting(ordered(table_of(rows, published), batch_size)) == lasting(whole)
    back = ordered(table_of(some, whole), batch_size)
    assert lasting(back) == lasting(published)


@given(logs, st.integers(0, 3), st.integers(0, 12), st.integers(0, 8), st.data())
def test_timelines_beyond_a_limit_have_no_scripts(many, batch_size, limit, edit_limit, data):
    """Their order is unchanged and the reason is given, independent of the earlier run's limits and output."""
    every = [row for number, log in enumerate(many) for row in rows_of(str(number), log)]
    some = [row for row in every if data.draw(st.booleans())]
    whole = ordered(table_of(every), batch_size)
    before = {"edit_limit": data.draw(st.integers(0, 8)), "edit_command_limit": data.draw(st.integers(0, 12))}
    published = ordered(table_of(some), batch_size, **before)
    limits = {"edit_limit": edit_limit, "edit_command_limit": limit}
    answer = ordered(table_of(every, published), batch_size, **limits)
    for number, log in enumerate(many):
        rows, wanted = of_timeline(answer, str(number)), of_timeline(whole, str(number))
        count = sum(len(row["edits"] or []) for row in wanted)
        reason = "too_long" if len(log) > edit_limit else "too_many_commands" if count > limit else None
        assert {row["edits_left_out"] for row in rows} == {reason if batch_size else None}
        assert in_order(rows) == in_order(wanted)
        full = {row["ordinal"]: row["edits"] for row in wanted}
        empty = {row["ordinal"]: None if row["edits"] is None else [] for row in wanted}
        assert {row["ordinal"]: row["edits"] for row in rows} == (empty if reason else full)


@given(logs, st.integers(0, 2), st.data())
def test_timelines_with_an_order_only(many, batch_size, data):
    """They have the same places without causes, scripts and updates; the other timelines are the same."""
    every = [row for number, log in enumerate(many) for row in rows_of(str(number), log)]
    some = [row for row in every if row["timeline_id"] != "0" and data.draw(st.booleans())]
    published = ordered(table_of(some), batch_size)
    whole = ordered(table_of(every, published), batch_size)
    marked = [row | {"is_order_only": row["timeline_id"] == "0"} for row in every]
    answer = ordered(table_of(marked, published), batch_size)
    for number in range(len(many)):
        rows, wanted = of_timeline(answer, str(number)), of_timeline(whole, str(number))
        if not number:
            reason = {"edits_left_out": "order_only" if batch_size else None}
            absent = dict.fromkeys(("causes", "cause_kinds", *OF_RUNS)) | reason
            wanted = [row | absent | {"edits": row["edits"] and []} for row in wanted]
        assert all(row["previous_publication"] is row["update_step"] is None for row in rows if not number)
        assert lasting(rows) == lasting(wanted)


@given(st.lists(st.floats(allow_nan=False) | st.none() | st.sampled_from([0.0, -0.0]), min_size=1, max_size=8))
def test_messages_arrive_by_receive_time(times):
    """Unknown times come last, and equal times are ordered by id."""
    names = dict(zip(NAMES, times, strict=False))
    rows = [{"timeline_id": "t", "event_id": name, "causes": [], "cause_kinds": []} for name in names]
    answer = ordered(table_of([row | {"received_ms": names[row["event_id"]]} for row in rows]), 1)
    found = [row["event_id"] for row in sorted(answer, key=lambda row: row["ordinal"])]
    assert found == sorted(names, key=lambda name: (names[name] is None, names[name] or 0.0, name))


def test_orders_of_an_earlier_version_are_refused():
    arrivals = SimpleNamespace(columns=Arrival._fields)
    published = SimpleNamespace(columns=["timeline_id", "event_id", "edits"])
    dbt = SimpleNamespace(ref=lambda _: arrivals, config=SimpleNamespace(meta_get=lambda _: 1), this="tangles.order")
    catalog = SimpleNamespace(tableExists=lambda name: name == "tangles.order")
    spark = SimpleNamespace(table=lambda _: published, catalog=catalog)
    with pytest.raises(ValueError, match=r"tangles\.order is of an earlier version.*--full-refresh"):
        model_runner.load("int_timeline_order").model(dbt, spark)


@pytest.mark.parametrize("position", [-1, 1, 3, 2**31 - 1])
def test_a_damaged_order_is_refused(position):
    rows = rows_of("t", [(name, set()) for name in "abc"])
    published = run(rows, [], 1)
    next(row for row in published if row["position"] == 0)["position"] = position
    with pytest.raises(ValueError, match="is damaged: build it once with --full-refresh"):
        run(rows, published, 1)
