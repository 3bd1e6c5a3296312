"""Pruning of sets by exhaustive trial; holders of items; and the columns for the next message."""

import random
from collections import Counter
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.set import reduce_sets, reduction
from dbt_tangles.algorithms.set.backlinks import NO_BACKLINK, backlink_depths
from dbt_tangles.columns.item_tokens import MARK
from faults_oracle import NaiveFaults, backlink_depth
from pruning_oracle import DELETE, KEEP, SmallSet
from set_oracle import NaiveSet
from set_tables import faults_of, moot, row, rows_by_place, sorted_faults, table_of

ROOT = {"depth": 0, "prev": [], "add": [], "del": []}


def answers(rows: list[dict]) -> dict[str, dict]:
    """Return the output row of each message, by id."""
    found = reduce_sets(table_of(rows))
    found.validate(full=True)
    return {row["message_id"]: answer for row, answer in zip(rows, found.to_pylist(), strict=True)}


def actions_of(messages: list[dict]) -> list[str]:
    """Return the pruning action of each message."""
    found = answers(rows_by_place(messages))
    return [found[name]["action"] for name in sorted(found)]


def written(*messages: tuple[list[int], list[str], list[str]]) -> list[dict]:
    """Build a set of (prev, add, del) by writers that know the ancestors of `prev` and link back."""
    found = [dict(ROOT)]
    known = [set()]
    for prev, add, delete in messages:
        part = {y for p in prev for y in {p} | known[p]}
        depth = 1 + max(found[p]["depth"] for p in part)
        links = part & {x for x, other in enumerate(found) if other["depth"] == backlink_depth(depth)}
        found.append({"depth": depth, "prev": sorted({*prev} | links), "add": add, "del": delete})
        known.append(part)
    assert [m["depth"] for m in found] == sorted(m["depth"] for m in found)
    return found


def test_backlinks_agree_with_an_independent_computation():
    depths = [*range(-2, 3000), 2**53 - 1, 2**62]
    wanted = [backlink_depth(d) if 0 < d < 2**60 else None for d in depths]
    assert backlink_depths(pa.array(depths).to_numpy()).tolist() == [NO_BACKLINK if w is None else w for w in wanted]


def test_followers_of_a_prunable_message_link_back_to_a_kept_one():
    long = [d for d in range(1, 20_000) if backlink_depth(d + 1) < d]
    assert long[:5] == [2, 6, 10, 11, 15]
    assert not {backlink_depth(d + 1) for d in long} & set(long)


TOUCHES = (["x"], []), ([], ["x"]), (["y"], []), ([], [])


def small_sets():
    """Yield every set of up to three messages with at most one item each, and some larger ones; writers link back."""
    shapes = [
        [[0]],
        [[0], [1]],
        [[0], [0]],
        [[0], [1], [2]],
        [[0], [0], [1, 2]],
        [[0], [0], [1]],
        [[0], [1], [1]],
        [[0], [0], [0]],
    ]
    for shape in shapes:
        for touches in product(TOUCHES, repeat=len(shape)):
            yield written(*((prev, *touch) for prev, touch in zip(shape, touches, strict=True)))


def assert_largest(messages: list[dict]) -> None:
    """Check that the actions are safe, and that every other safe choice removes less."""
    small, found = SmallSet(messages), actions_of(messages)
    assert small.is_safe(found)
    for way in small.ways():
        if small.is_safe(way):
            for action, more in zip(found, way, strict=True):
                assert more == KEEP or action != KEEP
                assert more != DELETE or action == DELETE


def test_pruning_is_maximal_for_every_small_set():
    for messages in small_sets():
        if len(messages) <= 3 or sum(len(m["add"]) + len(m["del"]) for m in messages) == 3:
            assert_largest(messages)


@pytest.mark.parametrize(
    "messages",
    [
        # The set of the document: alice, bob, bob again, alice deleted.
        written(([0], ["alice"], []), ([1], ["bob"], []), ([1], ["bob"], []), ([2], [], ["alice"])),
        # Two items in one message, one of them deleted later.
        written(([0], ["alice", "bob"], []), ([1], [], ["alice"]), ([2], ["carol"], [])),
        # A deletion with a descendant.
        written(([0], ["alice"], []), ([1], [], ["alice"]), ([2], ["bob"], []), ([3], ["bob"], [])),
        # An addition and a deletion in one message.
        written(([0], ["x", "y"], ["x"]), ([1], ["x"], ["y"]), ([1], ["y"], ["y"])),
    ],
)
def test_pruning_is_maximal_for_some_larger_sets(messages):
    assert_largest(messages)


def test_kept_messages_do_not_need_a_left_out_backlink():
    messages = written(([0], ["x"], []), ([1], ["y"], []), ([2], ["y"], []), ([3], ["x"], []))
    assert actions_of(messages) == ["keep", "erase", "delete", "keep", "keep"]
    messages[3]["prev"].remove(0)
    found = actions_of(messages)
    assert found == ["keep", "erase", "erase", "keep", "keep"] and SmallSet(messages).is_safe(found)


ITEMS = st.lists(st.sampled_from("abc"), max_size=2)


@st.composite
def any_sets(draw):
    """Draw a set of writers that know parts of it, and often break a rule."""
    found = [dict(ROOT)]
    for x in range(1, draw(st.integers(1, 14))):
        prev = sorted(set(draw(st.lists(st.integers(max(0, x - 4), x - 1), min_size=1, max_size=3))))
        depth = 1 + max(found[p]["depth"] for p in prev)
        if draw(st.booleans()):
            links = [y for y in range(x) if found[y]["depth"] == backlink_depth(depth)]
            prev = sorted({*prev, *links})
        names = draw(st.lists(st.integers(0, x - 1), max_size=2))
        found.append({"depth": depth, "prev": prev, "add": draw(ITEMS), "del": draw(ITEMS), "supersedes": names})
    order = sorted(range(len(found)), key=lambda x: found[x]["depth"])
    place = {x: k for k, x in enumerate(order)}
    for message in found:
        for name in ("prev", "supersedes"):
            message[name] = [place[p] for p in message.get(name, [])]
    return [found[x] for x in order]


@given(any_sets(), st.randoms(use_true_random=False))
def test_pruning_is_safe_for_any_messages(messages, rng):
    rows = rows_by_place(messages)
    found = answers(rng.sample(rows, len(rows)))
    naive, faults, small = NaiveSet(rows), NaiveFaults(as_entries(messages)), SmallSet(messages)
    names = sorted(found)
    kept = {item["item"]: item["kept_by"] for answer in found.values() for item in answer["items"]}
    left = {item["position_left"]: item["item"] for answer in found.values() for item in answer["items"]}
    actions = [found[name]["action"] for name in names]
    # Every part of the removable messages may be removed.
    assert small.items([*actions]) == small.items([rng.choice([KEEP, action]) for action in actions]) == set(kept)
    assert [left[k] for k in range(len(left))] == left_over(naive, actions)
    assert kept == {item: held for item in naive.items() if (held := holding(naive, faults, item))}
    assert all(found[m]["action"] == KEEP for m in last_words(naive).values())
    is_safe = left_over(naive, [KEEP if name in naive.item_roots() else DELETE for name in names])
    assert {answer["is_pruning_safe"] for answer in found.values()} == {set(is_safe) == set(kept)}
    assert faults_of(rows, [found[name] for name in names]) == sorted_faults(faults.all_faults())
    everyone = NaiveFaults([*as_entries(messages), {"prev": list(range(len(names))), "depth": 99}])
    assert next_items(found) == {
        item: ([names[y] for y in heads], [names[y] for y in opened])
        for item in last_words(naive)
        if (heads := everyone.heads(len(names), item))
        for opened in [[y for y in heads if item in messages[y]["del"] and not superseded(everyone, y)]]
    }


def as_entries(messages: list[dict]) -> list[dict]:
    """Convert messages for the oracle on faults; the root has no data."""
    return [message | {"is_entry": x > 0} for x, message in enumerate(messages)]


def last_words(naive: NaiveSet) -> dict[str, str]:
    """Return the last message on each item ever touched."""
    return {item: m for m in naive.order for item in [*naive.rows[m]["add"], *naive.rows[m]["del"]]}


def left_over(naive: NaiveSet, actions: list[str]) -> list[str]:
    """Return the items if only the kept messages remain, in order."""
    kept = [naive.rows[m] for m, action in zip(naive.order, actions, strict=True) if action == KEEP or m == naive.moot]
    return list(NaiveSet(kept).items())


def holding(naive: NaiveSet, faults: NaiveFaults, item: str) -> list[str]:
    """Return the messages that add an item and have no descendant that touches it."""
    touching = [x for x, message in enumerate(faults.messages) if item in faults.touched(x)]
    standing = [x for x in touching if not any(x in faults.known[y] for y in touching)]
    return [naive.order[x] for x in standing if item not in faults.messages[x]["del"]]


def superseded(faults: NaiveFaults, y: int) -> bool:
    """Say whether a later message supersedes a message."""
    return any(y in faults.superseded(x) for x in range(len(faults.messages)))


def next_items(found: dict[str, dict]) -> dict[str, tuple[list[str], list[str]]]:
    """Return the messages that the next message supersedes, by item."""
    return {
        item["item"]: (item["deepest"], item["open_deletions"])
        for answer in found.values()
        for item in answer["next_items"]
    }


@given(any_sets(), st.sampled_from("abcz"), st.booleans(), st.data())
def test_the_next_message_has_no_fault(messages, item, adds, data):
    rows = rows_by_place(messages)
    found = answers(rows)
    items = next_items(found)
    must, opened = items.get(item, ([], [])), {m for _, each in items.values() for m in each}
    chosen = {data.draw(st.sampled_from(must[0]))} if must[0] else set()
    prev = [name for name, answer in found.items() if answer["is_next_prev"]]
    depth = 1 + max(message["depth"] for message in rows)
    more = row("zz", depth=depth, prev=prev, supersedes=[*chosen, *(opened if adds else ())])
    more["add" if adds else "del"] = [item]
    after = answers([*rows, more])
    answer = after.pop("zz")
    # By the rules of the document; the superseded messages may hold other items.
    assert {fault["rule"] for fault in answer["writer_faults"]} <= {"supersedes_standing_item"}
    assert answer["is_tip"] and {held["item"] for held in answer["items"]} <= {item}
    assert not any(other["is_tip"] for other in after.values())


def test_equal_looking_and_unnameable_items():
    rows = [moot("m0"), row("m1", add=["7", MARK + "7", MARK + '{"a":1}'], prev=["m0"])]
    found = answers(rows)["m1"]
    assert [(item["item"], item["is_string"]) for item in found["next_items"]] == [("7", True), ("7", False)]
    assert [item["kept_by"] for item in found["items"]] == [["m1"]] * 3


def test_without_a_root_all_is_kept():
    found = answers([row("m1", add=["x"]), row("m2", depth=2, prev=["m1"], add=["x"])])
    assert {(a["action"], a["is_pruning_safe"], a["is_next_prev"]) for a in found.values()} == {("keep", True, False)}
    assert all(a["next_items"] == [] and a["backlink_depth"] is None for a in found.values())


def test_a_set_beyond_the_bound_keeps_its_deciding_messages(monkeypatch):
    monkeypatch.setattr(reduction, "CLOCK_ENTRIES_PER_SET", 1)
    fan = [row(f"m{x}", depth=1, prev=["m0"], add=["x"]) for x in range(1, 6)]
    merges = [row(f"n{x}", depth=2, prev=["m1", "m2", "m3"], add=["y"]) for x in range(3)]
    found = answers([moot("m0"), *fan, *merges])
    kept = {item["item"]: item["kept_by"] for answer in found.values() for item in answer["items"]}
    assert kept == {"x": ["m5"], "y": ["n2"]}
    assert not any(answer["are_writers_checked"] or answer["writer_faults"] for answer in found.values())
    assert [name for name, answer in found.items() if answer["action"] == KEEP] == ["m0", "m5", "n2"]
    assert all(answer["action"] != DELETE for answer in found.values())


def test_a_long_set_keeps_few():
    rng = random.Random(4)
    rows = [moot("m0000")]
    for x in range(1, 1500):
        prev = {f"m{x - 1:04}", f"m{backlink_depth(x):04}"}
        rows.append(row(f"m{x:04}", depth=x, prev=sorted(prev), add=[f"i{rng.randrange(9)}"]))
    counts = Counter(answer["action"] for answer in answers(rows).values())
    assert counts["keep"] == 10 and counts["delete"] > 300
