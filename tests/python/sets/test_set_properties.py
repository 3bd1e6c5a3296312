"""`reduce_sets` against the oracle: random messages, in any order, any number of sets in one call."""

import itertools
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.columns.collation import collation_keys
from set_oracle import NaiveSet, compare_ids
from set_tables import expected, moot, reduced, row, table_of

base58 = st.text("19AZaz", min_size=1, max_size=3)
items = st.lists(st.sampled_from(["x", "X", "", "ü", "10", "9"]), max_size=3)


@st.composite
def sets(draw, name: str) -> list[dict]:
    """Draw a set, mostly of valid messages; sometimes with links to later or unknown messages."""
    ids = draw(st.lists(base58, min_size=1, max_size=9, unique=True))
    has_root, lies = draw(st.booleans()) or draw(st.booleans()), draw(st.integers(0, 5)) == 0
    rows = [moot(ids[0], set_id=name)] if has_root else []
    depths = {ids[0]: 0}
    for number, message in enumerate(ids[1:], 1):
        prev = draw(st.lists(st.sampled_from(ids if lies else ids[:number]) | st.just("gone"), max_size=3))
        depth = max([depths.get(p, 0) for p in prev], default=0) + 1 + draw(st.sampled_from([0, 0, 0, 1, 40, 2**53]))
        depths[message] = draw(st.integers(-1, 4)) if lies else depth
        erased = draw(st.integers(0, 5)) == 0
        shaped = not erased and draw(st.integers(0, 5)) > 0
        rows.append(
            row(
                message,
                set_id=name,
                depth=depths[message],
                prev=prev,
                account=draw(st.sampled_from(["me", "me", "me", "you"])),
                has_data=not erased,
                is_set_shape=shaped,
                add=draw(items) if shaped else [],
                deleted=draw(items) if shaped else [],
                supersedes=[] if erased else draw(st.lists(st.sampled_from([*ids, "gone"]), max_size=4)),
            )
        )
    return rows or [moot(ids[0], set_id=name)]


logs = st.integers(1, 4).flatmap(lambda count: st.tuples(*(sets(f"set{k}") for k in range(count))))


@given(logs, st.integers(1, 3), st.randoms(use_true_random=False))
def test_equals_the_oracle_in_any_order(log, ghost_span, rng):
    rows = [row for one in log for row in one]
    rng.shuffle(rows)
    assert reduced(rows, ghost_span) == expected(rows, ghost_span)


@given(st.lists(base58, unique=True, max_size=20))
def test_keys_sort_as_the_collation_does(ids):
    keys = collation_keys(table_of([row(i) for i in ids])["message_id"]).to_pylist()
    assert len(set(keys)) == len(ids)
    for a, key_of_a in zip(ids, keys, strict=True):
        for b, key_of_b in zip(ids, keys, strict=True):
            assert (key_of_a < key_of_b) == (compare_ids(a, b) < 0)


@pytest.mark.parametrize("offset", [0, 1, 7, 64])
def test_keys_of_a_slice(offset):
    ids = [f"Id{number:x}Z" for number in range(200)]
    for column in (pa.array(ids), pa.chunked_array([ids[:90], ids[90:]])):
        assert collation_keys(column.slice(offset)).to_pylist() == collation_keys(pa.array(ids[offset:])).to_pylist()


def devices(rng: random.Random, count: int, messages: int, item_count: int) -> list[dict]:
    """Draw rows of a set that some devices write to, each on top of the messages it has seen."""
    rows, heads = [moot("m0")], [{0}] * count
    for number in range(1, messages):
        device = rng.randrange(count)
        if rng.random() < 0.3:
            heads[device] = heads[device] | heads[rng.randrange(count)]
        depth = 1 + max(rows[head]["depth"] for head in heads[device])
        touched = [f"i{rng.randrange(item_count)}" for _ in range(rng.choice([1, 1, 3]))]
        rows.append(
            row(
                f"m{number}",
                depth=depth,
                prev=[f"m{head}" for head in heads[device]],
                add=touched,
                is_set_shape=rng.random() < 0.998,
            )
        )
        heads[device] = {number}
    # The last message repeats the older half of the items.
    everything = set().union(*heads)
    rows.append(
        row(
            f"m{messages}",
            depth=1 + max(rows[head]["depth"] for head in everything),
            prev=[f"m{head}" for head in everything],
            add=[f"i{number}" for number in range(item_count)],
        )
    )
    return rows


def oldest_by_masks(naive: NaiveSet) -> int:
    """Compute the squeeze potential with ancestors as the bits of an integer."""
    place = {message: k for k, message in enumerate(naive.order)}
    above, touching = {}, {}
    for message in naive.order:
        above[message] = 0
        if naive.is_entry(message):
            for p in naive.prev(message):
                if naive.is_entry(p):
                    above[message] |= above[p] | 1 << place[p]
            for item in naive.rows[message]["add"]:
                touching[item] = touching.get(item, 0) | above[message]
    standing = [
        naive.depth(message)
        for message in naive.order
        if naive.is_entry(message)
        if any(not touching[item] >> place[message] & 1 for item in naive.rows[message]["add"])
    ]
    return naive.max_depth() - min(standing)


@pytest.mark.parametrize(("seed", "count", "size"), [*itertools.product(range(6), [1, 4, 60], [900]), (7, 5, 3000)])
def test_a_large_set_agrees_with_a_partial_oracle(seed, count, size):
    rng = random.Random(f"{seed}/{count}")
    rows = devices(rng, count, size, rng.choice([20, 400, 900]))
    naive = NaiveSet(rows)
    summary, messages, items = reduced(rng.sample(rows, len(rows)))["root"]
    assert items == naive.items()
    assert sorted(messages, key=lambda m: messages[m]["position"]) == naive.order
    assert summary["item_roots"] == naive.item_roots()
    assert {m: messages[m]["purpose"] for m in messages} == naive.purposes()
    assert summary["squeeze_potential"] == oldest_by_masks(naive)
