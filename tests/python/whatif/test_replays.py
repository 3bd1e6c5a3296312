"""Replays of timelines and bases: numbers worked out by hand, and the same final order for every replica."""

import json
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from base_tables import drawing, rows_of, table_of
from dbt_tangles.algorithms.autobase.bases import number_bases
from dbt_tangles.algorithms.timeline.edits import edit_stream
from dbt_tangles.algorithms.timeline.replica import Replica, follow
from dbt_tangles.ingest.line_format import LINE_SCHEMA
from dbt_tangles.whatif import bases, logs, timelines
from dbt_tangles.whatif.deliveries import DELAYS, SHUFFLED, Delivery, Items, Model, deliver
from dbt_tangles.whatif.measures import MOMENTS, Replay, compare, disagreement, moments, percentiles, sum_up

GARDEN = [("plan", [], "a"), ("harvest", ["seeds", "water"], "b"), ("seeds", ["plan"], "a"), ("water", ["plan"], "c")]


def read(events, max_previous=None, tie_break=None):
    rows = []
    for number, (event, after, author) in enumerate(events):
        document = {"timeline": "garden", "event": event, "after": after, "author": author, "arrival": number}
        raw = json.dumps(document).encode()
        rows.append({"source_file": "log", "line": number + 1, "raw": raw, "raw_length": len(raw)})
    lines = pa.RecordBatch.from_pylist(rows, LINE_SCHEMA)
    return logs.admit(logs.read_events(iter([lines]), max_previous), tie_break)


def order(events, **rules) -> list[str]:
    """Return the final order of events that all are accepted."""
    _, found, number = read(events, **rules)
    names = {each: name for each, (name, *_) in zip(number, events, strict=True)}
    return [names[each] for each in timelines.order_of(found, np.ones(len(number), np.bool_))]


def test_garden_by_hand():
    """The harvest comes before the plan, then moves behind the seeds; the water is inserted between them."""
    _, found, number = read(GARDEN)
    replay = timelines.replay(found, number, np.array([1, 2, 4]), 1)
    assert replay.changes.tolist() == [1, 1, 2, 1] and replay.settled.tolist() == [1, 3, 3, 4]
    assert replay.facts == {"inserted_inside": 2, "moved": 1}
    harvest, plan, seeds, water = sorted(number)
    assert [each.tolist() for each in replay.orders] == [[plan], [harvest, plan], [plan, seeds, water, harvest]]
    assert sum_up(Delivery(number, np.array([10.0, 20, 35, 40])), replay, True) == {
        "changes": 5,
        "changes_per_item": 1.25,
        "changes_of_updates": {"median": 1, "p95": 2, "max": 2},
        "inserted_inside": 2,
        "moved": 1,
        "unsettled": 0,
        "settled_after": {"median": 0, "p95": 1, "max": 1},
        "settled_after_s": {"median": 0.0, "p95": 15.0, "max": 15.0},
    }


def test_arrivals_that_share_a_script():
    _, found, number = read(GARDEN)
    replay = timelines.replay(found, number, np.array([1, 3, 4]), 3)
    assert replay.step_end.tolist() == [3, 4] and replay.changes.tolist() == [3, 1] and replay.facts["moved"] == 0
    assert [len(each) for each in replay.orders] == [0, 3, 4]


def test_rules():
    roots = [("m", [], "x"), ("n", [], "w"), ("o", [], None)]
    assert order(roots) == ["m", "n", "o"] and order(roots, tie_break="reversed") == ["o", "n", "m"]
    assert order(roots, tie_break="author") == ["o", "n", "m"] and order(roots[:2], tie_break="author") == ["n", "m"]
    items, found, _ = read(GARDEN, max_previous=1)
    assert len(items.feed) == 3 and len(found.cause) == 2 and items.authors == ["a", "c"]


def test_refused_events_are_left_out():
    """A contradiction, a repeated event, and one that would follow itself; the causes that remain are known."""
    items, found, _ = read([("a", ["z"], "x"), ("a", [], "x"), ("b", ["a", "c"], "x"), ("b", ["a", "c"], "x"), *GARDEN])
    assert len(items.feed) == 5 and found.start.tolist() == [0, 5] and len(found.cause) == 4


def random_events(count: int, seed: int):
    rng = np.random.default_rng(seed)
    names = [f"e{number}" for number in rng.permutation(count)]
    lists = [[names[each] for each in rng.integers(0, at, min(at, 2))] for at in range(count)]
    return [(name, sorted({*after}), f"@{rng.integers(5)}") for name, after in zip(names, lists, strict=True)]


@pytest.mark.parametrize("delivery", [SHUFFLED, DELAYS])
@pytest.mark.parametrize("batch", [1, 7])
def test_replicas_end_in_one_order_and_the_commands_lead_to_it(delivery, batch):
    items, found, number = read(random_events(40, 3))
    received = [deliver(items, Model(delivery, delay_s=9.0), replica) for replica in range(3)]
    counts = moments(received)
    final = timelines.order_of(found, np.ones(40, np.bool_)).tolist()
    replays = [timelines.replay(found, number[e.arrived], c, batch) for e, c in zip(received, counts, strict=True)]
    for each, replay, wanted in zip(received, replays, counts, strict=True):
        assert replay.orders[-1].tolist() == final and replay.changes.min() >= 1
        commands = edit_stream(found, number[each.arrived], np.arange(40) // batch)
        rows = list(zip(*commands, strict=True))
        assert len(rows) == replay.changes.sum()
        for count, seen in zip(wanted, replay.orders, strict=True):
            done = [row for row in rows if replay.step_end[row[3]] <= count]
            view = Replica()
            follow((("ins" if a < 0 else "mov", e, None if a < 0 else a, b) for e, a, b, _, _ in done), view)
            assert view.order() == seen.tolist()
    assert compare(counts, replays)[-1]["disagreement"] == 0 and compare(counts, replays)[-1]["settled"] == [1, 1, 1]


def test_keep_events():
    start, cause = np.array([0, 0, 1, 3]), np.array([0, 0, 1], np.int32)
    kept = timelines.keep_events(start, cause, np.array([2, 1]))
    assert [each.tolist() for each in kept] == [[0, 1, 1], [1]]


# The examples of int_timeline_arrivals.yml.
def claim(root, previous, defect=None):
    return {"root_id": root, "previous": previous, "defect": defect}


@pytest.mark.parametrize(
    ("message", "before", "claims", "limit", "expected"),
    [
        ("%1", None, [claim(None, None)], None, []),
        ("%2", "%1", [claim("%1", ["%1", "%0"]), claim("%r", ["%p", "%1"])], None, ["%0", "%p", "%r", "%1"]),
        ("%3", "%2", [claim("%r", ["%q"], "malformed_tangle"), claim("%3", ["%1"])], None, ["%1", "%3", "%2"]),
        ("%2", "%1", [claim(None, ["%9", "%2", "%7", "%8"])], 2, ["%7", "%1"]),
        ("%3", "%9", [claim(None, ["%9", "%7", "%8"])], 2, ["%7", "%9"]),
        ("%4", None, [claim(None, ["%9", "%8", "%7"])], 2, ["%7", "%8"]),
        ("%6", "%1", [claim("%a", ["%x"])], 2, ["%x", "%1"]),
        ("%8", None, [claim("%a", ["%x"])], 2, ["%x", "%a"]),
        ("%9", "%1", [claim("%a", ["%a"]), claim("%b", []), claim("%c", None)], 2, ["%a", "%1"]),
    ],
)
def test_causes_of_messages(message, before, claims, limit, expected):
    causes, kinds = logs.causes_of(message, before, claims, limit)
    assert causes == expected and len(kinds) == len(causes)


def test_kinds_of_causes():
    assert logs.causes_of("%2", "%1", [claim(None, ["%1"])], None)[1] == ["both"]
    assert logs.causes_of("%2", "%1", [claim(None, ["%0"])], None)[1] == ["tangle", "unproven_feed"]


# ---------------------------------------------------------------------------------------------------------------------
# Bases


def base(indexers: str, words: str):
    return number_bases(table_of(rows_of("base", drawing(indexers, words))))


def arrive(*order) -> Delivery:
    return Delivery(np.array(order, np.int32), np.arange(1.0, len(order) + 1))


def test_an_earlier_writer_undoes_a_later_one():
    """Both roots are unsettled, and the one of A comes first: B1 is undone when A1 arrives after it."""
    numbered = base("AB", "A1 B1")
    late = bases.replay(numbered, arrive(1, 0), np.array([1, 2]))
    assert late.changes.tolist() == [0, 1] and late.facts == {"rebases": 1} and late.settled.tolist() == [0, 0]
    assert [each.tolist() for each in late.orders] == [[1], [0, 1]]
    assert bases.replay(numbered, arrive(0, 1), np.array([1, 2])).facts == {"rebases": 0}


def test_a_node_is_used_once_all_before_it_are_there():
    numbered = base("A", "A1 C1:A1 A2:C1")
    assert numbered.row.tolist() == [0, 2, 1]  # by writer and length
    assert bases.usable_from(numbered, np.array([2, 1, 0])).tolist() == [3, 3, 3]
    replay = bases.replay(numbered, arrive(1, 0, 2), np.array([1, 2, 3]))
    assert [len(each) for each in replay.orders] == [0, 2, 3] and replay.changes.sum() == 0
    # The only indexer settles its own nodes at once, and the node of C with the one that follows it.
    assert replay.settled.tolist() == [3, 2, 3]


def random_base(count: int, seed: int):
    """Let three indexers and a further writer append in turn, each after its own node and those that it knows."""
    rng, tips, words = np.random.default_rng(seed), {}, []
    for _ in range(count):
        writer = "ABCD"[rng.integers(4)]
        heads = [f"{other}{length}" for other, length in tips.items() if other != writer and rng.random() < 0.6]
        tips[writer] = tips.get(writer, 0) + 1
        words.append(f"{writer}{tips[writer]}:{','.join(heads)}")
    return base("ABC", " ".join(words)), logs.number_feeds([word[0] for word in words])


@pytest.mark.parametrize("delivery", [SHUFFLED, DELAYS])
def test_replicas_of_a_base_end_in_one_order(delivery):
    numbered, feeds = random_base(24, 5)
    received = [deliver(Items(*feeds), Model(delivery, delay_s=5.0), replica) for replica in range(3)]
    counts = moments(received)
    found = [bases.replay(numbered, each, wanted) for each, wanted in zip(received, counts, strict=True)]
    everything, settled = bases.order_nodes(numbered.graphs, np.ones(24, np.bool_))
    for each in found:
        assert each.orders[-1].tolist() == everything[0].tolist() and (each.settled > 0).sum() == settled[0]
    for one, other in combinations(found, 2):
        assert disagreement(one.orders[-1], other.orders[-1]) == 0


def test_neighbours_in_another_order():
    """Of 0 1 3 and 1 0 3, one pair of two neighbours is the other way round; 2 is in one order only."""
    assert disagreement(np.array([0, 1, 2, 3]), np.array([1, 0, 3])) == 0.5
    assert disagreement(np.array([0]), np.array([0, 1])) == disagreement(np.array([], int), np.array([], int)) == 0


def test_percentiles_are_values():
    assert (
        percentiles(np.array([1, 1, 4, 9])) == {"median": 1, "p95": 9, "max": 9} and percentiles(np.array([])) is None
    )


def test_moments_end_with_everything():
    counts = moments([arrive(0, 1, 2), Delivery(np.arange(3), np.array([2.5, 2.5, 9]))])
    assert counts.shape == (2, MOMENTS) and counts[:, -1].tolist() == [3, 3] and (np.diff(counts) >= 0).all()
    assert counts[:, 0].tolist() == [1, 0]


def test_moments_by_hand():
    one = Replay(
        np.array([1, 2, 3]), np.array([1, 1, 4]), np.array([3, 2, 3]), [np.array([0, 1]), np.array([0, 1, 2])], {}
    )
    other = one._replace(orders=[np.array([1, 0]), np.array([0, 1, 2])])
    first, second = compare(np.array([[2, 3], [1, 3]]), [one, other])
    assert first == {"received": [2, 1], "changes_per_item": [1, 1], "settled": [0.5, 0], "disagreement": 1.0}
    assert second == {"received": [3, 3], "changes_per_item": [4, 2.5], "settled": [1, 1], "disagreement": 0.0}
    assert compare(np.array([[2, 3]]), [one])[0]["disagreement"] is None
