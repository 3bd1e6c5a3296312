"""Writer faults of sets: at random against an oracle; and sets beyond the bounds."""

import numpy as np
import pytest

from cpu_time import within
from dbt_tangles.algorithms.set import reduce_sets, reduction
from dbt_tangles.algorithms.set.writer_rules import RULES
from faults_oracle import DEFAULTS, NaiveFaults
from set_tables import faults_of, rows_by_place, sorted_faults, table_of


def found_faults(sets: list[list[dict]], rng: np.random.Generator | None = None) -> list[list | None]:
    """Return the faults of each set, or None for a set that was not checked; `rng` shuffles the rows."""
    rows = [row for s, messages in enumerate(sets) for row in rows_by_place(messages, f"s{s:03}")]
    order = np.arange(len(rows)) if rng is None else rng.permutation(len(rows))
    found = reduce_sets(table_of([rows[k] for k in order])).to_pylist()
    answers = [found[k] for k in np.argsort(order)]
    by_set, first = [], 0
    for messages in sets:
        mine = slice(first, first := first + len(messages))
        are_checked = {answer["are_writers_checked"] for answer in answers[mine]}
        faults = faults_of(rows[mine], answers[mine])
        assert len(are_checked) == 1 and (are_checked == {True} or not faults)
        by_set.append(faults if are_checked == {True} else None)
    return by_set


def expected(messages: list[dict]) -> list[tuple]:
    return sorted_faults(NaiveFaults(messages).all_faults())


ROOT = {"is_entry": False, "depth": 0}
ALICE = {"prev": [0], "depth": 1, "add": ["alice"]}
BOB = {"prev": [1], "depth": 2, "add": ["bob"]}
NO_ALICE = {"prev": [1], "depth": 2, "del": ["alice"], "supersedes": [1]}


def random_set(rng: np.random.Generator, size: int, items: int) -> list[dict]:
    """Draw a set of some writers that mostly keep the rules; an entry of `supersedes` may be a later or no message."""
    messages = [DEFAULTS | ROOT]
    codes = "abcdefghijkl"[:items]
    sloppiness = rng.choice([0.0, 0.1, 0.5])
    for x in range(1, size):
        window = int(rng.choice([1, 2, 5, size]))
        message = {
            "prev": rng.integers(max(0, x - window), x, int(rng.choice([0, 1, 1, 2, 2, 3, 3]))).tolist(),
            "depth": messages[-1]["depth"] + int(rng.integers(0, 2)),
            "is_entry": bool(rng.random() < 0.9),
            "add": rng.choice(list(codes), int(rng.integers(0, 3))).tolist(),
            "del": rng.choice(list(codes), int(rng.integers(0, 3))).tolist(),
        }
        naive = NaiveFaults([*messages, message])
        owed = [left for _, _, _, lefts in [*naive.must(x), *naive.should(x)] for left in lefts]
        message["supersedes"] = [y for y in owed if rng.random() >= sloppiness]
        if rng.random() < sloppiness:
            message["supersedes"].append(int(rng.integers(0, size + 1)))
        messages.append(message)
    return messages


@pytest.mark.parametrize("seed", range(8))
def test_faults_agree_with_the_oracle_in_any_order_and_within_any_bound(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    sets = [random_set(rng, int(rng.integers(1, 60)), int(rng.integers(1, 13))) for _ in range(40)]
    faults = [expected(messages) for messages in sets]
    assert {fault[1] for each in faults for fault in each} == set(RULES)
    assert found_faults(sets, rng) == faults
    for room in (int(rng.integers(0, 60)), 100):
        monkeypatch.setattr(reduction, "CLOCK_ENTRIES_PER_SET", room)
        tight = found_faults(sets, rng)
        assert tight == [found_faults([messages])[0] for messages in sets]
        assert 0 < tight.count(None) < len(sets)
        assert all(found in (None, wanted) for found, wanted in zip(tight, faults, strict=True))


SMALL = [ROOT, ALICE, NO_ALICE, BOB | {"prev": [2, 0], "depth": 3}]
SMALL_FAULTS = [(3, "should", "alice", [2])]


def beyond(bound: str) -> list[dict]:
    """Build a set that exceeds a bound of 64 entries, 256 pending deletions or 1024 steps."""
    deleting = {"prev": [0], "depth": 1, "del": [f"{k:03}" for k in range(12)]}
    if bound == "clocks":
        return [ROOT, *[{"prev": [0], "depth": 1}] * 20, *[{"prev": [x, x + 1], "depth": 2} for x in range(1, 20)]]
    if bound == "pending deletions":
        pairs = [{"prev": [1], "depth": 2, "del": [f"{k:03}"]} for k in range(20)]
        return [ROOT, deleting, *pairs, *[{"prev": [x, x + 1], "depth": 3, "del": ["z"]} for x in range(2, 21)]]
    if bound == "left out":
        deleting["del"] = [f"{k:03}" for k in range(30)]
        return [ROOT, deleting, *[{"prev": [x], "depth": x + 1, "add": ["z"]} for x in range(1, 5)]]
    return [ROOT, *[{"prev": [0], "depth": 1, "add": ["a"]}] * 60]


@pytest.mark.parametrize("bound", ["clocks", "pending deletions", "left out", "steps"])
def test_a_set_beyond_a_bound_is_not_checked_and_leaves_the_others_alone(bound, monkeypatch):
    large = beyond(bound)
    assert found_faults([SMALL, large, SMALL]) == [SMALL_FAULTS, expected(large), SMALL_FAULTS]
    monkeypatch.setattr(reduction, "CLOCK_ENTRIES_PER_SET", 64)
    assert found_faults([SMALL, large, SMALL]) == [SMALL_FAULTS, None, SMALL_FAULTS]


COUNT = 20_000


def in_time(*sets: list[dict]) -> list[list | None]:
    """Return the faults by the rules on `supersedes` of large sets, and of a small one, in bounded time."""
    found_faults([SMALL])
    table = table_of([row for s, messages in enumerate(sets) for row in rows_by_place(messages, f"s{s}")])
    with within(20):
        reduce_sets(table)
    *large, small = found_faults([*sets, SMALL])
    assert small == SMALL_FAULTS
    return [each and [fault for fault in each if fault[1] != "lipmaa_left_out"] for each in large]


def test_many_concurrent_messages():
    fan = [ROOT, *[{"prev": [0], "depth": 1, "add": [str(k)]} for k in range(COUNT)]]
    merge = {"prev": list(range(1, COUNT + 1)), "depth": 2, "add": ["0"]}
    assert in_time([*fan, merge]) == [[(COUNT + 1, "must", "0", [1])]]


@pytest.mark.long
def test_many_concurrent_deletions_and_merges_of_them():
    fan = [ROOT, *[{"prev": [0], "depth": 1, "del": [f"{k:05}"]} for k in range(COUNT)]]
    merge = {"prev": list(range(COUNT, 0, -1)), "depth": 2, "add": ["x"]}
    faults = [(COUNT + 1, "should", f"{k:05}", [k + 1]) for k in range(COUNT)]
    assert in_time([*fan, merge], [*fan, *[merge] * 300]) == [faults, None]


@pytest.mark.long
def test_many_deletions_never_superseded():
    deleting = [{"prev": [k], "depth": k + 1, "del": [str(k)]} for k in range(COUNT)]
    [faults] = in_time([ROOT, *deleting, {"prev": [COUNT], "depth": COUNT + 1, "add": ["x"]}])
    assert faults is None or len(faults) == COUNT
    assert in_time([ROOT, *[m | {"add": ["x"]} for m in deleting]]) == [None]


@pytest.mark.parametrize("count", [20_000, pytest.param(200_000, marks=pytest.mark.long)])
def test_one_message_with_many_items(count):
    items = [str(k) for k in range(count)]
    messages = [ROOT, ALICE | {"add": [], "del": items}, {"prev": [1], "depth": 2, "add": items, "supersedes": [1]}]
    assert in_time(messages) == [[]]
    messages[2] = {"prev": [1], "depth": 2, "add": items}
    assert len(in_time(messages)[0]) == 2 * count
