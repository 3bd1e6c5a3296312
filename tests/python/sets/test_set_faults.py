"""Writer faults of sets: the kernel against an oracle, on examples and at random."""

import time
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.set.chain_clocks import CLOCK_ENTRIES_PER_SET
from dbt_tangles.algorithms.set.item_touches import Touches
from dbt_tangles.algorithms.set.set_arrays import SetEntries, SetTangles
from dbt_tangles.algorithms.set.writer_faults import writer_faults
from dbt_tangles.algorithms.set.writer_rules import RULES
from faults_oracle import DEFAULTS, NaiveFaults

SECONDS = 20


def arrays_of(sets: list[list[dict]], rng: np.random.Generator | None = None) -> tuple[dict, list[str]]:
    """Build the kernel's arguments for some sets, and the item of each code; `rng` shuffles the codes."""
    sets = [[DEFAULTS | message for message in messages] for messages in sets]
    firsts = [0, *accumulate(len(messages) for messages in sets)]
    flat = [(first, message) for first, messages in zip(firsts, sets, strict=False) for message in messages]
    items = sorted({item for _, message in flat for item in message["add"] + message["del"]})
    if rng is not None:
        rng.shuffle(items)
    codes = {item: code for code, item in enumerate(items)}
    start, previous = csr([[first + p for p in message["prev"]] for first, message in flat])
    add_start, added = csr([[codes[item] for item in message["add"]] for _, message in flat])
    del_start, deleted = csr([[codes[item] for item in message["del"]] for _, message in flat])
    list_start, superseded = csr([[first + y if y >= 0 else -1 for y in m["supersedes"]] for first, m in flat])
    depth = np.array([message["depth"] for _, message in flat], np.int64)
    is_entry = np.array([message["is_entry"] for _, message in flat], np.bool_)
    touches = Touches(add_start, added, del_start, deleted, len(items))
    tangles = SetTangles(np.array(firsts, np.int64), start, previous, depth)
    return {"tangles": tangles, "entries": SetEntries(is_entry, touches, list_start, superseded)}, items


def csr(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.array([0, *accumulate(len(entries) for entries in lists)], np.int64)
    return starts, np.array([entry for entries in lists for entry in entries], np.int32)


def kernel(
    sets: list[list[dict]], rng: np.random.Generator | None = None, room: int = CLOCK_ENTRIES_PER_SET
) -> list[list | None]:
    """Return the faults of each set in the oracle's form, or None for a set that was not checked."""
    arrays, items = arrays_of(sets, rng)
    found = writer_faults(**arrays, room=room)
    firsts = arrays["tangles"].set_start
    assert [a.dtype for a in found] == [np.int32, np.int32, np.int8, np.int64, np.int32, np.bool_]
    assert found.left_start[0] == 0 and found.left_start[-1] == len(found.left_out)
    assert (np.diff(found.message) >= 0).all()
    faults = [[] if is_checked else None for is_checked in found.is_checked]
    for f in range(len(found.message)):
        s = int(np.searchsorted(firsts, found.message[f], "right")) - 1
        left = found.left_out[found.left_start[f] : found.left_start[f + 1]] - firsts[s]
        message = int(found.message[f] - firsts[s])
        faults[s].append((message, RULES[found.rule[f]], items[found.code[f]], left.tolist()))
    return faults


def faults_of(*messages: dict) -> list[tuple]:
    """Return the faults of one set; kernel and oracle must agree."""
    found = kernel([list(messages)])[0]
    assert found == NaiveFaults(list(messages)).faults()
    return found


ROOT = {"is_entry": False}
ALICE = {"prev": [0], "depth": 1, "add": ["alice"]}
BOB = {"prev": [1], "depth": 2, "add": ["bob"]}
NO_ALICE = {"prev": [1], "depth": 2, "del": ["alice"], "supersedes": [1]}

# The sets of the document, as they grow. Its second addition of bob is concurrent with the deletion, and next to the
# first in reduction order: 1 alice, 2 bob, 3 bob again, 4 alice deleted, 5 carol.
GROWTH = [
    [ROOT],
    [ROOT, ALICE],
    [ROOT, ALICE, BOB],
    [ROOT, ALICE, BOB, NO_ALICE | {"prev": [2], "depth": 3}],
    [ROOT, ALICE, BOB, BOB, NO_ALICE | {"prev": [2], "depth": 3}],
    [
        ROOT,
        ALICE,
        BOB,
        BOB,
        NO_ALICE | {"prev": [2], "depth": 3},
        {"prev": [3, 4], "depth": 4, "add": ["carol"], "supersedes": [4]},
    ],
]


@pytest.mark.parametrize("step", range(len(GROWTH)))
def test_the_sets_of_the_document_are_without_fault(step):
    assert faults_of(*GROWTH[step]) == []


def test_the_latest_message_about_an_item_must_be_superseded():
    again = {"prev": [2], "depth": 3, "add": ["alice"]}
    assert faults_of(ROOT, ALICE, BOB, again) == [(3, "must", "alice", [1])]
    given_away = (3, "supersedes_standing_item", "bob", [2])
    assert faults_of(ROOT, ALICE, BOB, again | {"supersedes": [2]}) == [(3, "must", "alice", [1]), given_away]
    assert faults_of(ROOT, ALICE, BOB, again | {"supersedes": [2, -1, 1]}) == [given_away]
    last = {"prev": [3], "depth": 4, "del": ["alice"], "supersedes": [1]}
    assert faults_of(ROOT, ALICE, BOB, again | {"supersedes": [1]}, last) == [(4, "must", "alice", [3])]


def test_superseding_the_message_of_an_item_requires_adding_it_again():
    both = {"prev": [0], "depth": 1, "add": ["alice", "bob"]}
    no_alice = {"prev": [1], "depth": 2, "del": ["alice"], "supersedes": [1]}
    given_away = (2, "supersedes_standing_item", "bob", [1])
    assert faults_of(ROOT, both, no_alice) == [given_away]
    assert faults_of(ROOT, both, no_alice | {"supersedes": [1, -1, 1, 0, 2]}) == [given_away]
    assert faults_of(ROOT, both, no_alice | {"add": ["bob"]}) == []
    assert faults_of(ROOT, both, no_alice | {"del": ["alice", "bob"]}) == []
    # Exempt: items held by another message, unknown messages, and deleted items.
    beside = {"prev": [0], "depth": 1, "add": ["bob"]}
    assert faults_of(ROOT, both, beside, no_alice | {"prev": [1, 2]}) == []
    assert faults_of(ROOT, beside, both, no_alice | {"prev": [1, 2], "supersedes": [1, 2]})[0][3] == [2]
    assert faults_of(ROOT, beside, both, no_alice | {"prev": [1], "supersedes": [2]}) == []
    assert faults_of(ROOT, both | {"del": ["bob"]}, no_alice) == []


ITEMS = st.lists(st.sampled_from("abcd"), max_size=3)


@st.composite
def sets_of_messages(draw):
    messages = []
    size = draw(st.integers(0, 30))
    for x in range(size):
        places = st.one_of(st.integers(max(0, x - 4), max(0, x - 1)), st.integers(0, max(0, x - 1)))
        messages.append(
            {
                "prev": draw(st.lists(places, max_size=3)) if x else [],
                "depth": (messages[-1]["depth"] if x else 0) + draw(st.integers(0, 1)),
                "is_entry": draw(st.integers(0, 5)) > 0,
                "add": draw(st.one_of(st.just([]), ITEMS)),
                "del": draw(st.one_of(st.just([]), ITEMS)),
                "supersedes": draw(st.lists(st.one_of(places, st.integers(-1, size - 1)), max_size=3)),
            }
        )
    return messages


def random_set(rng: np.random.Generator, size: int, items: int) -> list[dict]:
    """Draw a set of some writers that mostly keep the rules."""
    messages: list[dict] = []
    codes = "abcdefghijkl"[:items]
    sloppiness = rng.choice([0.0, 0.1, 0.5])
    for x in range(size):
        window = int(rng.choice([1, 2, 5, size]))
        prev = [] if x == 0 else rng.integers(max(0, x - window), x, int(rng.integers(1, 4))).tolist()
        message = {
            "prev": prev,
            "depth": messages[-1]["depth"] + int(rng.integers(0, 2)) if x else 0,
            "is_entry": bool(rng.random() < 0.9),
            "add": rng.choice(list(codes), int(rng.integers(0, 2))).tolist(),
            "del": rng.choice(list(codes), int(rng.integers(0, 3))).tolist(),
        }
        naive = NaiveFaults([*messages, message])
        owed = [left for _, _, _, lefts in [*naive.must(x), *naive.should(x)] for left in lefts]
        message["supersedes"] = [y for y in owed if rng.random() >= sloppiness]
        if x and rng.random() < sloppiness:
            message["supersedes"].append(int(rng.integers(0, x)))
        messages.append(message)
    return messages


@given(st.lists(sets_of_messages(), max_size=4), st.integers(0, 2**32 - 1))
def test_faults_agree_with_the_oracle_on_any_messages(sets, seed):
    rng = np.random.default_rng(seed)
    assert kernel(sets, rng) == [NaiveFaults(messages).faults() for messages in sets]


@given(st.lists(sets_of_messages(), min_size=1, max_size=4), st.integers(0, 60), st.randoms(use_true_random=False))
def test_other_sets_do_not_change_the_faults(sets, room, random):
    alone = [kernel([messages], room=room)[0] for messages in sets]
    order = random.sample(range(len(sets)), len(sets))
    together = kernel([sets[s] for s in order], np.random.default_rng(room), room)
    assert together == [alone[s] for s in order]
    for messages, faults in zip(sets, alone, strict=True):
        assert faults is None or faults == NaiveFaults(messages).faults()


@pytest.mark.parametrize("seed", range(8))
def test_faults_of_writers_that_mostly_follow_the_rules(seed):
    rng = np.random.default_rng(seed)
    sets = [random_set(rng, int(rng.integers(1, 60)), int(rng.integers(1, 13))) for _ in range(40)]
    expected = [NaiveFaults(messages).faults() for messages in sets]
    assert {fault[1] for faults in expected for fault in faults} == set(RULES[:3])
    assert kernel(sets, rng) == expected
    tight = kernel(sets, rng, 100)
    assert 0 < tight.count(None) < len(sets)
    assert all(found is None or found == faults for found, faults in zip(tight, expected, strict=True))


SMALL = [ROOT, ALICE, NO_ALICE, BOB | {"prev": [2], "depth": 3}]
SMALL_FAULTS = [(3, "should", "alice", [2])]


def beyond(bound: str) -> list[dict]:
    """Build a set that exceeds a bound of 64 entries or 1024 steps."""
    if bound == "clocks":
        return [ROOT, *[{"prev": [0], "depth": 1}] * 20, *[{"prev": [x, x + 1], "depth": 2} for x in range(1, 20)]]
    if bound == "open deletions":
        deleting = {"prev": [0], "depth": 1, "del": [f"{k:03}" for k in range(12)]}
        children = [{"prev": [1], "depth": 2, "del": [f"{k:03}"]} for k in range(20, 28)]
        return [ROOT, deleting, *children, {"prev": list(range(2, 10)), "depth": 3}]
    if bound == "left out":
        deleting = {"prev": [0], "depth": 1, "del": [f"{k:03}" for k in range(30)]}
        return [ROOT, deleting, *[{"prev": [x], "depth": x + 1, "add": ["z"]} for x in range(1, 5)]]
    return [ROOT, *[{"prev": [0], "depth": 1, "add": ["a"]}] * 60]


@pytest.mark.parametrize("bound", ["clocks", "open deletions", "left out", "steps"])
def test_a_set_beyond_a_bound_is_not_checked_and_leaves_the_others_alone(bound):
    large = beyond(bound)
    assert kernel([SMALL, large, SMALL], room=64) == [SMALL_FAULTS, None, SMALL_FAULTS]
    assert kernel([SMALL, large, SMALL]) == [SMALL_FAULTS, NaiveFaults(large).faults(), SMALL_FAULTS]


def test_unused_lists_free_their_memory():
    # Two parallel branches: the next message always needs one of the lists.
    branches = [ROOT, {"prev": [0], "depth": 1, "del": ["000", "001"]}]
    for x in range(2, 80):
        p = max(1, x - 2)
        branches.append({"prev": [p], "depth": x, "del": [f"{x:03}"], "supersedes": [p] if p > 1 else []})
    late = {"prev": [5], "depth": 80, "add": ["x"]}
    merge = {"prev": [78, 79, 80], "depth": 81, "add": ["y"]}
    messages = [*branches, late, merge]
    faults = NaiveFaults(messages).faults()
    assert [fault[3] for fault in faults] == [[1], [1], [5], [1], [1], [78], [79]]
    assert kernel([messages, SMALL], room=64) == [faults, SMALL_FAULTS]


def test_no_sets_and_empty_sets():
    assert kernel([]) == []
    assert kernel([[], SMALL, []]) == [[], SMALL_FAULTS, []]


def in_time(sets: list[list[dict]]) -> list[list | None]:
    arrays, _ = arrays_of(sets)
    kernel([SMALL])
    began = time.perf_counter()
    writer_faults(**arrays)
    assert time.perf_counter() - began < SECONDS
    return kernel(sets)


COUNT = 20_000


def test_many_concurrent_messages():
    fan = [ROOT, *[{"prev": [0], "depth": 1, "add": [str(k)]} for k in range(COUNT)]]
    merge = {"prev": list(range(1, COUNT + 1)), "depth": 2, "add": ["0"]}
    assert in_time([[*fan, merge], SMALL]) == [[(COUNT + 1, "must", "0", [1])], SMALL_FAULTS]


@pytest.mark.long
def test_many_concurrent_deletions_and_merges_of_them():
    fan = [ROOT, *[{"prev": [0], "depth": 1, "del": [str(k)]} for k in range(COUNT)]]
    merge = {"prev": list(range(COUNT, 0, -1)), "depth": 2, "add": ["x"]}
    faults = [(COUNT + 1, "should", str(k), [k + 1]) for k in range(COUNT)]
    assert in_time([[*fan, merge], [*fan, *[merge] * 300], SMALL]) == [faults, None, SMALL_FAULTS]


@pytest.mark.long
def test_many_deletions_never_superseded():
    deleting = [{"prev": [k], "depth": k + 1, "del": [str(k)]} for k in range(COUNT)]
    adding = {"prev": [COUNT], "depth": COUNT + 1, "add": ["x"]}
    faults, small = in_time([[ROOT, *deleting, adding], SMALL])
    assert faults is None or len(faults) == COUNT
    assert small == SMALL_FAULTS
    mixed = [m | {"add": ["x"]} for m in deleting]
    assert in_time([[ROOT, *mixed], SMALL]) == [None, SMALL_FAULTS]


@pytest.mark.parametrize("count", [20_000, pytest.param(200_000, marks=pytest.mark.long)])
def test_one_message_with_many_items(count):
    items = [str(k) for k in range(count)]
    messages = [ROOT, ALICE | {"add": [], "del": items}, {"prev": [1], "depth": 2, "add": items, "supersedes": [1]}]
    assert in_time([messages, SMALL]) == [[], SMALL_FAULTS]
    messages[2] = {"prev": [1], "depth": 2, "add": items}
    faults = in_time([messages, SMALL])[0]
    assert len(faults) == 2 * len(items) and faults[0] == (2, "must", "0", [1])
