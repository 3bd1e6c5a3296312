"""Hostile set messages, and the rules that are easy to get wrong."""

import random
import time

import pyarrow as pa
import pytest

from dbt_tangles.algorithms.set import INPUT_SCHEMA, OUTPUT_SCHEMA, reduce_sets
from set_tables import expected, moot, reduced, row, table_of


def only(rows: list[dict], ghost_span: int = 32) -> tuple[dict, dict, dict]:
    """Return the answer for one set; it must equal the oracle's."""
    answer = reduced(rows, ghost_span)
    assert answer == expected(rows, ghost_span)
    return answer["root"]


def chain(count: int, **values) -> list[dict]:
    """Build a root and a chain of messages."""
    rows = [moot("root")]
    for number in range(1, count):
        rows.append(row(f"m{number}", depth=number, prev=[rows[-1]["message_id"]], **values))
    return rows


def test_an_item_in_both_lists_ends_deleted_and_comes_back_at_the_end():
    rows = chain(5)
    rows[1] |= {"add": ["a", "b", "a"]}
    rows[2] |= {"add": ["c", "a"], "del": ["a", "nothing"]}
    rows[3] |= {"add": ["b"], "del": ["d"]}
    rows[4] |= {"add": ["a", "d"]}
    summary, _, items = only(rows)
    assert summary["items"] == ["b", "c", "a", "d"]
    assert items == {"b": "m1", "c": "m2", "a": "m4", "d": "m4"}


def test_supersedes_does_not_reach_other_sets():
    rows = [moot("root", set_id="one"), row("m", set_id="one", add=["a", "b"], deleted=["b"])]
    rows += [moot("root", set_id="two"), row("m", set_id="two", add=["b", "a"])]
    assert {name: answer[0]["items"] for name, answer in reduced(rows).items()} == {"one": ["a"], "two": ["b", "a"]}


def test_a_deeper_deletion_beats_a_concurrent_addition():
    rows = [*chain(3), row("x", depth=1, prev=["root"], add=["a"])]
    rows[2] |= {"del": ["a"]}
    assert only(rows)[0]["items"] == []


def test_supersedes_of_itself_of_later_ones_in_circles_and_of_strangers():
    rows = chain(5)
    rows[1] |= {"supersedes": ["m1", "m4", "root"]}
    rows[2] |= {"supersedes": ["m3", "elsewhere", "", None]}
    rows[3] |= {"supersedes": ["m2", "m2"]}
    rows[4] |= {"supersedes": ["m4"]}
    other = [row("elsewhere", set_id="other", supersedes=["m1"]), moot("other", set_id="other")]
    answers = reduced([*rows, *other])
    assert answers["root"][0]["item_roots"] == ["m1", "m3", "m4"]
    assert answers["other"][0]["item_roots"] == ["elsewhere"]


def test_an_erased_superseder_gives_its_targets_back():
    rows = chain(4)
    rows[2] |= {"supersedes": ["m1"]}
    rows[3] |= {"supersedes": ["m2"]}
    assert only(rows)[0]["item_roots"] == ["m3"]
    rows[2] |= {"has_data": False, "is_set_shape": False}
    summary, messages, _ = only(rows)
    assert summary["item_roots"] == ["m1", "m3"]
    assert messages["m2"]["position"] == 2


def test_missing_messages_only_leave_a_gap():
    rows = chain(6, add=["a"])
    del rows[3]
    summary, messages, _ = only(rows)
    assert summary["tips"] == ["m2", "m5"]
    assert summary["message_count"] == 5
    assert [m["position"] for m in messages.values()] == [0, 1, 2, 3, 4]


def test_a_trail_ends_where_a_message_is_missing():
    rows = chain(6)
    rows[5] |= {"supersedes": ["m1", "m2", "m3", "m4"]}
    assert [m["purpose"] for m in only(rows, 1)[1].values()] == ["trail"] * 5 + ["goal"]
    del rows[3]
    assert [m["purpose"] for m in only(rows, 1)[1].values()] == ["trail", "none", "none", "trail", "goal"]
    assert [m["purpose"] for m in only(rows, 3)[1].values()] == ["trail", "none", "ghost", "trail", "goal"]


def test_without_a_root_no_message_is_ordered_or_pruned():
    rows = chain(4, add=["a"])[1:]
    summary, messages, _ = only(rows)
    assert (summary["items"], summary["item_roots"], summary["tips"]) == ([], [], [])
    assert (summary["account"], summary["min_required_depth"], summary["squeeze_potential"]) == (None, 0, 2)
    assert {(m["position"], m["purpose"]) for m in messages.values()} == {(None, "goal")}


def test_a_root_alone_and_a_set_without_data():
    assert only([moot("root")])[0] | {"account": 0, "domain": 0} == {
        "set_id": "root",
        "account": 0,
        "domain": 0,
        "message_count": 1,
        "max_depth": 0,
        "items": [],
        "item_roots": [],
        "min_required_depth": None,
        "min_ghost_depth": None,
        "squeeze_potential": None,
        "tips": ["root"],
    }
    erased = chain(3, has_data=False, is_set_shape=False)
    assert {m["purpose"] for m in only(erased)[1].values()} == {"none"}


def test_data_that_is_no_set_is_an_item_root_and_no_more():
    rows = chain(4, add=["a"])
    rows[2] |= {"is_set_shape": False, "add": ["b"], "del": ["a"], "supersedes": ["m1"]}
    rows[3] |= {"domain": "account__x", "add": ["c"]}
    reduction = reduced(rows)["root"][0]
    assert (reduction["items"], reduction["item_roots"]) == (["a"], ["m2", "m3"])


def test_wrong_depths():
    rows = [moot("root"), row("a", depth=2**53, prev=["b"], add=["x"]), row("b", depth=-3, prev=["a"], add=["x"])]
    rows += [row("c", depth=0, prev=["c", "a"]), row("d", depth=2**53, prev=["b", "d"], add=["y"])]
    only(rows)
    tied = [moot("root"), *(row(f"m{k}", prev=[f"m{j}" for j in range(9)]) for k in range(9))]
    only(tied)


def test_ten_thousand_entries():
    rng = random.Random(1)
    rows = chain(400, add=["a"])
    names = [message["message_id"] for message in rows] + [f"no{k}" for k in range(500)]
    rows[-1] |= {
        "add": [f"i{k % 7000}" for k in range(10_000)],
        "del": [f"i{k % 500}" for k in range(10_000)],
        "supersedes": rng.choices(names, k=10_000),
    }
    summary, _, _ = reduced(rows)["root"]
    assert len(summary["items"]) == 1 + 7000 - 500
    assert summary["item_roots"] == ["m399"]


def test_pairs_across_a_wide_set():
    rng = random.Random(2)
    names = [f"a{k}" for k in range(3000)]
    partners = rng.sample(names, len(names))
    rows = [moot("root"), *(row(name, prev=["root"], add=[name]) for name in names)]
    rows += [row(f"b{k}", depth=2, prev=[name], deleted=[name]) for k, name in enumerate(partners)]
    assert reduced(rows)["root"][0]["squeeze_potential"] == 0
    rows[-1]["prev"] = [partners[0]]
    assert reduced(rows)["root"][0]["squeeze_potential"] == 1


@pytest.mark.parametrize("depths", [lambda k: k, lambda k: 1, lambda k: 2**53 - k])
def test_long_sets_take_linear_time(depths):
    rows = [moot("root")]
    for k in range(1, 30_000):
        before = [f"{k - 1:05d}", f"{k // 2:05d}", f"{k + 1:05d}"]
        rows.append(row(f"{k:05d}", depth=depths(k), prev=before, add=[f"i{k}"], supersedes=before))
    table = table_of(rows)
    reduce_sets(table.slice(0, 100))
    begin = time.process_time()
    reduce_sets(table)
    assert time.process_time() - begin < 5


def test_objects_are_equal_only_to_themselves_and_other_items_by_value():
    rows = chain(4)
    rows[1] |= {"add": ["\0{}", "\0[1]", "\x001", "1", "\0null", '\0"\\u0000"']}
    rows[2] |= {"add": ["\0{}", "\x001"], "del": ["\0{}", "\0[1]", "\0null"]}
    (summary, _, _) = reduced(rows)["root"]
    assert summary["items"] == ["{}", "[1]", "1", "1", "\0", "{}"]


def test_an_empty_table():
    assert reduce_sets(INPUT_SCHEMA.empty_table()).cast(OUTPUT_SCHEMA) == OUTPUT_SCHEMA.empty_table()


def test_null_lists_flags_and_wide_types():
    rows = chain(4)
    rows[1] |= {"add": None, "del": None, "supersedes": None, "has_data": None}
    rows[2] |= {"add": ["a"], "prev": None, "is_moot": None, "account": None}
    wide = pa.list_(pa.large_string())
    schema = [(f.name, {INPUT_SCHEMA.field("add").type: wide}.get(f.type, f.type)) for f in INPUT_SCHEMA]
    assert reduce_sets(table_of(rows).cast(pa.schema(schema))).equals(reduce_sets(table_of(rows)))
    only(rows)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([row(None)], "null"),
        ([row("a", set_id=None)], "null"),
        ([moot("root"), row("a"), row("b"), row("a")], "twice"),
        ([moot("root"), row("a", depth=None)], "no depth"),
        ([moot("root"), moot("a")], "two roots"),
    ],
)
def test_wrong_tables_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        reduce_sets(table_of(wrong))
