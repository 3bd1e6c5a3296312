"""Hostile set messages, and the rules that are easy to get wrong."""

import random

import pyarrow as pa
import pytest

from cpu_time import within
from dbt_tangles.algorithms.set import INPUT_SCHEMA, reduce_sets
from set_tables import expected, moot, reduced, row, table_of


def only(rows: list[dict], ghost_span: int = 32) -> tuple[dict, dict, dict]:
    """Return the answer for one set; it must equal the oracle's."""
    answer = reduced(rows, ghost_span)
    assert answer == expected(rows, ghost_span)
    return answer["root"]


def chain(count: int) -> list[dict]:
    """Build a root and a chain of messages."""
    names = ["root", *(f"m{number}" for number in range(1, count))]
    return [moot(), *(row(names[depth], depth=depth, prev=[names[depth - 1]]) for depth in range(1, count))]


def test_a_trail_ends_where_a_message_is_missing():
    rows = chain(6)
    rows[5] |= {"supersedes": ["m1", "m2", "m3", "m4"]}
    assert [m["purpose"] for m in only(rows, 1)[1].values()] == ["trail"] * 5 + ["goal"]
    del rows[3]
    assert [m["purpose"] for m in only(rows, 1)[1].values()] == ["trail", "none", "none", "trail", "goal"]
    assert [m["purpose"] for m in only(rows, 3)[1].values()] == ["trail", "none", "ghost", "trail", "goal"]


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
    with within(5):
        reduce_sets(table)


def test_null_lists_flags_and_wide_types():
    rows = chain(4)
    rows[1] |= {"add": None, "del": None, "supersedes": None, "has_data": None}
    rows[2] |= {"add": ["a"], "prev": None, "is_moot": None, "account": None}
    wide = pa.list_(pa.large_string())
    schema = [(f.name, {INPUT_SCHEMA.field("add").type: wide}.get(f.type, f.type)) for f in INPUT_SCHEMA]
    assert reduce_sets(table_of(rows).cast(pa.schema(schema))).equals(reduce_sets(table_of(rows)))
    only(rows)
