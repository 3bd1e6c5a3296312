"""`reduce_groups` against the oracle: random messages, in any order, any number of groups in one call."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from group_oracle import oracle
from group_tables import add, exclude, init, reduced

FEEDS = [f"feed{number}" for number in range(5)]
MESSAGES = [f"m{number * 7919 % 1009:04}" for number in range(200)]
# Keys that differ in the first, the last or a middle byte, above and below 127.
KEYS = [0, 1, 255, 2**255, 2**255 + 1, 127 * 2**248, 2**64, 2**192 + 3, 2**128]


@st.composite
def groups(draw) -> list[dict]:
    rows, messages = [], iter(MESSAGES)
    for g in range(draw(st.integers(1, 3))):
        ids = [f"e{g}.{number}" for number in draw(st.permutations(range(draw(st.integers(1, 8)))))]
        group_id = ids[0]
        shape = draw(st.sampled_from(["any", "any", "chain", "star"]))
        for number, epoch_id in enumerate(ids):
            below = ids[:number]
            if number and draw(st.integers(0, 9)) == 0:
                below = [*below, "elsewhere", None]
            if draw(st.integers(0, 30)) == 0:
                below = ids
            if shape == "chain" and number:
                previous = [ids[number - 1]]
            elif shape == "star" and number:
                previous = [ids[0]]
            else:
                previous = draw(st.lists(st.sampled_from(below), max_size=3)) if below else None
            is_root = number == 0 and draw(st.integers(0, 20)) > 0
            rows.append(init(epoch_id, previous, group_id, draw(st.sampled_from(KEYS))))
            rows[-1]["kind"] = "root_init" if is_root else "epoch_init"
            for _ in range(draw(st.integers(0, 3))):
                feeds = draw(st.lists(st.sampled_from([*FEEDS, None]), max_size=4) | st.none())
                say = draw(st.sampled_from([add, exclude]))
                connected = draw(st.sampled_from([True, True, False, None]))
                rows.append(say(next(messages), epoch_id, feeds, group_id, is_connected=connected))
        if draw(st.integers(0, 3)) == 0:
            # A root init that claims the group, an unknown epoch, and an epoch id that is an add.
            rows.append(init(f"junk{g}", None, group_id) | {"kind": "root_init"})
            rows.append(add(next(messages), "nowhere", FEEDS, group_id))
            rows.append(add(next(messages), rows[-1]["message_id"], FEEDS, group_id))
            rows.append(exclude(next(messages), None, FEEDS, group_id))
    return draw(st.permutations(rows))


@given(groups(), st.integers(1, 9))
def test_small_groups_agree_with_an_oracle_on_sets(rows, batch_rows):
    assert reduced(rows, batch_rows) == oracle(rows)


def seeds(quick: int, every: int) -> list:
    """Return the seeds of a search; those after the first few are for long tests."""
    return [*range(quick), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(quick, every))]


@pytest.mark.parametrize("seed", seeds(3, 8))
def test_groups_with_more_than_a_word_of_feeds(seed):
    rng = random.Random(seed)
    rows = []
    for g in range(2):
        count = rng.randint(2, 25)
        for number in range(count):
            previous = [f"e{g}.{p}" for p in rng.sample(range(number), min(number, rng.randint(1, 2)))]
            if rng.random() < 0.5 and number:
                previous = [f"e{g}.{number - 1}"]
            rows.append(init(f"e{g}.{number}", previous, f"e{g}.0", rng.randint(0, count)))
            for _ in range(rng.randint(0, 4)):
                feeds = [f"f{rng.randint(0, 150)}" for _ in range(rng.randint(1, 60))]
                say = add if rng.random() < 0.8 else exclude
                rows.append(say(f"m{len(rows)}", f"e{g}.{number}", feeds, f"e{g}.0", is_connected=rng.random() < 0.9))
    rng.shuffle(rows)
    expected = oracle(rows)
    assert expected[2]
    assert reduced(rows) == expected


@pytest.mark.parametrize("seed", seeds(6, 30))
def test_groups_with_many_tips(seed):
    """Every epoch but the root is a tip; the sets are small, so many include one another."""
    rng = random.Random(seed)
    rows = [init("g")]
    for number in range(rng.randint(3, 150)):
        rows.append(init(f"e{number:03}", ["g"], key=rng.randint(0, 10)))
        feeds = rng.sample(range(8), rng.randint(0 if seed % 3 == 0 else 1, 5))
        rows.append(add(f"m{number}", f"e{number:03}", [f"f{feed}" for feed in feeds]))
    epochs, members, dropped = reduced(rows)
    expected = oracle(rows)
    assert epochs == expected[0] and members == expected[1] and dropped == expected[2] == {}
    assert {row["preference"] for row in epochs.values()} == {"many_tips"}


@pytest.mark.parametrize("seed", seeds(2, 6))
def test_feeds_added_to_more_epochs_than_a_word_has_bits(seed):
    """Two feeds in a long group with forks: their adds fill several words, which they share."""
    rng = random.Random(seed)
    rows = [init("e000", group_id="e000")]
    for number in range(170):
        epoch_id = f"e{number:03}"
        if number:
            previous = {max(number - rng.choice([1, 1, 1, 1, 2, 5]), 0) for _ in range(rng.choice([1, 1, 2]))}
            rows.append(init(epoch_id, [f"e{p:03}" for p in previous], "e000"))
        feeds = [feed for feed in ("one", "two") if rng.random() < 0.9]
        rows.append(add(f"a{rng.random()}", epoch_id, feeds, "e000"))
        if rng.random() < 0.04:
            rows.append(exclude(f"x{rng.random()}", epoch_id, [rng.choice(["one", "two"])], "e000"))
    rng.shuffle(rows)
    expected = oracle(rows)
    assert len(expected[2]) > 5
    assert reduced(rows) == expected
