"""Foreign excludes: an epoch is charged with them although its init does not descend from them."""

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.private_group.foreign_excludes import (
    FOREIGN_INPUT_SCHEMA,
    FOREIGN_OUTPUT_SCHEMA,
    MAX_LISTED,
    foreign_excludes,
)
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition
from foreign_oracle import naive_foreign

DEFAULTS = {"group_id": "g", "previous": None, "is_member": True, "previous_epochs": None, "excluded_epoch": None}
# Their order by code point differs from that of UTF-16 and of every dictionary.
LETTERS = ["a", "B", "é", "\uffee", "𝄞", "", "aa", "a\0"]


def message(name: str, previous: list | None = None, **values) -> dict:
    """Build a message of one group, without its depth."""
    return DEFAULTS | {"message_id": name, "previous": previous} | values


def with_depths(rows: list[dict]) -> list[dict]:
    """Give each row its depth in the group tangle; previous members come before their descendants."""
    depths, found = {}, []
    for row in rows:
        if row["is_member"]:
            known = [
                depths[row["group_id"], name] for name in row["previous"] or [] if (row["group_id"], name) in depths
            ]
            depths[row["group_id"], row["message_id"]] = max(known, default=-1) + 1
        found.append({"depth": depths.get((row["group_id"], row["message_id"])) if row["is_member"] else None} | row)
    return found


def batches_of(rows: list[dict], size: int) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pylist(rows[at : at + size], FOREIGN_INPUT_SCHEMA) for at in range(0, len(rows), size)]


def answers(batches: list[pa.RecordBatch]) -> dict:
    """Return the listed excludes and their number, by group and epoch."""
    found = {}
    for batch in batches:
        batch.validate(full=True)
        assert batch.schema == FOREIGN_OUTPUT_SCHEMA
        for row in batch.to_pylist():
            key = row["group_id"], row["epoch_id"]
            assert key not in found
            found[key] = row["message_ids"], row["message_count"]
    return found


def foreign(rows: list[dict], batch_rows: int = 7, **options) -> dict:
    """Return all foreign excludes by group and epoch; the oracle must agree."""
    rows = with_depths(rows)
    random.Random(1).shuffle(rows)
    found = answers(run_on_partition(foreign_excludes, iter(batches_of(rows, batch_rows)), **options))
    expected = naive_foreign(rows)
    assert found == {key: (names[:MAX_LISTED], len(names)) for key, names in expected.items()}
    return {epoch_id: names for (_, epoch_id), names in expected.items()}


@st.composite
def some_groups(draw) -> list[dict]:
    """Draw groups of connected and unconnected messages, shuffled."""
    rows = []
    for group_id in draw(st.lists(st.sampled_from(LETTERS), max_size=3, unique=True)):
        names = draw(st.lists(st.text(st.sampled_from("aB\0é\uffee𝄞"), max_size=3), max_size=14, unique=True))
        epochs = [name for name in names if draw(st.integers(0, 2)) == 0]
        members = []
        for name in names:
            is_member = not members or draw(st.integers(0, 4)) > 0
            previous = draw(st.lists(st.sampled_from(members if is_member else names), max_size=3)) if members else []
            row = message(name, previous or None, group_id=group_id, is_member=is_member)
            anything = st.sampled_from([*epochs, *epochs, *names, "unknown"])
            if name in epochs:
                row["previous_epochs"] = draw(st.lists(anything, max_size=4))
            elif draw(st.booleans()):
                row["excluded_epoch"] = draw(anything)
            if is_member:
                members.append(name)
            rows.append(row)
    return draw(st.permutations(with_depths(rows)))


@given(some_groups(), st.integers(1, 50))
def test_foreign_excludes_agree_with_an_oracle_on_sets(rows, batch_rows):
    found = answers(run_on_partition(foreign_excludes, iter(batches_of(rows, batch_rows))))
    assert found == {key: (names, len(names)) for key, names in naive_foreign(rows).items()}


def random_group(rng: random.Random, group_id: str, size: int, reach: int) -> list[dict]:
    """Draw messages that follow some of the latest members; a third are inits and a third excludes."""
    names = [f"%{rng.getrandbits(80):020x}.sha256" for _ in range(size)]
    epochs, members, rows = [], [], []
    for i, name in enumerate(names):
        latest = members[-reach:]
        previous = rng.sample(latest, min(len(latest), rng.choice([1, 1, 2])))
        row = message(name, previous, group_id=group_id, is_member=i == 0 or rng.random() < 0.9)
        if i == 0 or rng.random() < 0.33:
            row["previous_epochs"] = rng.sample(epochs[-8:], min(len(epochs[-8:]), rng.choice([1, 1, 2])))
            epochs.append(name)
        elif rng.random() < 0.5:
            row["excluded_epoch"] = rng.choice(epochs[-12:])
        if row["is_member"]:
            members.append(name)
        rows.append(row)
    return rows


@pytest.mark.parametrize("reach", [1, 3, 20, 600])
def test_many_epochs(reach):
    rng = random.Random(reach)
    rows = [row for g in range(6) for row in random_group(rng, f"g{g}", rng.choice([40, 250, 600]), reach)]
    whole = foreign(rows, batch_rows=100)
    assert len(whole) > 64
    table = pa.Table.from_batches(batches_of(with_depths(rows), 1000))
    batches = list(foreign_excludes(table, chunk_rows=64))
    assert all(0 < batch.num_rows <= 64 for batch in batches)
    assert {epoch_id: len(names) for (_, epoch_id), (names, _) in answers(batches).items()} == {
        epoch_id: min(len(names), MAX_LISTED) for epoch_id, names in whole.items()
    }


ROOT = message("root", previous_epochs=[])
FORK = [
    ROOT,
    message("x1", ["root"], excluded_epoch="root"),
    message("x2", ["root"], excluded_epoch="root"),
    message("e1", ["x1"], previous_epochs=["root"]),
    message("e2", ["x2"], previous_epochs=["root"]),
]


def test_more_excludes_than_a_machine_word_has_bits():
    many = [message(f"x{i:04}", ["root"], excluded_epoch="root") for i in range(1000)]
    inits = [message(f"e{i:04}", ["x0001", f"x{i:04}"], previous_epochs=["root"]) for i in range(130)]
    rows = with_depths([ROOT, *many, *inits])
    found = answers(run_on_partition(foreign_excludes, iter(batches_of(rows, 50_000))))
    assert foreign([ROOT, *many, *inits]).keys() == {row["message_id"] for row in inits}
    assert found["g", "e0001"] == (["x0000", *(f"x{i:04}" for i in range(2, 101))], 999)


def test_a_group_that_takes_too_many_steps_is_passed_over():
    # One sweep over 5 messages and 4 links, plus twice two excludes.
    wide = [row | {"group_id": "h"} for row in [*FORK, message("e3", ["x1"], previous_epochs=["root"])]]
    rows = with_depths([*FORK, *wide, ROOT | {"group_id": "calm"}])
    small = {("g", "e1"): (["x2"], 1), ("g", "e2"): (["x1"], 1)}

    def within(step_limit):
        return answers(run_on_partition(foreign_excludes, iter(batches_of(rows, 4)), step_limit))

    assert within(13) == small | {("h", None): (None, None)}
    assert within(12) == {("g", None): (None, None), ("h", None): (None, None)}
    assert len(within(17)) == 5


def test_many_groups_are_passed_over():
    rows = with_depths([row | {"group_id": f"{g}"} for g in range(150) for row in FORK])
    batches = list(foreign_excludes(pa.Table.from_batches(batches_of(rows, 100)), 0, chunk_rows=64))
    assert [batch.num_rows for batch in batches] == [64, 64, 22]
    assert answers(batches) == {(f"{g}", None): (None, None) for g in range(150)}


def test_groups_without_forks_give_no_rows():
    assert list(run_on_partition(foreign_excludes, iter([]))) == []
    assert list(run_on_partition(foreign_excludes, iter(batches_of([ROOT | {"depth": 0}], 1)[:0]))) == []
    assert list(foreign_excludes(FOREIGN_INPUT_SCHEMA.empty_table())) == []
    assert foreign([ROOT]) == {}
    with pytest.raises(ValueError, match="64"):
        list(foreign_excludes(FOREIGN_INPUT_SCHEMA.empty_table(), chunk_rows=63))


def test_unexpected_rows_are_ignored():
    """Absent and null ids, cycles, huge depths, repeated rows, unknown flags."""
    rng = np.random.default_rng(3)
    names = ["a", "b", "c", "d", "e", "f", "g", None]

    def some():
        return None if rng.random() < 0.2 else [names[i] for i in rng.integers(0, 8, rng.integers(0, 4))]

    for _ in range(300):
        rows = [
            {
                "group_id": names[rng.integers(5, 8)],
                "message_id": names[rng.integers(0, 8)],
                "previous": some(),
                "is_member": [True, True, False, None][rng.integers(0, 4)],
                "depth": [None, 0, 1, 2, 2**31 - 1, -(2**31)][rng.integers(0, 6)],
                "previous_epochs": some(),
                "excluded_epoch": names[rng.integers(0, 8)],
            }
            for _ in range(rng.integers(0, 20))
        ]
        for batch in run_on_partition(foreign_excludes, iter(batches_of(rows, 6)), 1000):
            batch.validate(full=True)
