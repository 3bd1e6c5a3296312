"""Foreign excludes: an epoch is charged with them although its init does not descend from them."""

import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.private_group import foreign_excludes as kernel
from dbt_tangles.algorithms.private_group.foreign_excludes import MAX_LISTED, foreign_excludes
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


def answers(rows: list[dict], batch_rows: int = 7, **options) -> dict:
    """Return the listed excludes and their number, by group and epoch."""
    found = {}
    for batch in foreign_excludes(pa.Table.from_pylist(rows, foreign_excludes.reads).to_batches(batch_rows), **options):
        batch.validate(full=True)
        for row in batch.to_pylist():
            key = row["group_id"], row["epoch_id"]
            assert key not in found
            found[key] = row["message_ids"], row["message_count"]
    return found


def foreign(rows: list[dict]) -> dict:
    """Return all foreign excludes by epoch; the oracle must agree."""
    rows = with_depths(rows)
    random.Random(1).shuffle(rows)
    expected = naive_foreign(rows)
    assert answers(rows) == {key: (names[:MAX_LISTED], len(names)) for key, names in expected.items()}
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
    assert answers(rows, batch_rows) == {key: (names, len(names)) for key, names in naive_foreign(rows).items()}


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


@pytest.mark.parametrize("bits", [kernel.BITS, 0])
@pytest.mark.parametrize("reach", [1, 3, 20, 600])
def test_many_epochs(reach, bits, monkeypatch):
    """One sweep for all excludes, or one for each 64."""
    monkeypatch.setattr(kernel, "BITS", bits)
    rng = random.Random(reach)
    assert len(foreign([row for g in range(6) for row in random_group(rng, f"g{g}", rng.choice([40, 250]), reach)])) > 9


ROOT = message("root", previous_epochs=[])
FORK = [
    ROOT,
    message("x1", ["root"], excluded_epoch="root"),
    message("x2", ["root"], excluded_epoch="root"),
    message("e1", ["x1"], previous_epochs=["root"]),
    message("e2", ["x2"], previous_epochs=["root"]),
]


def test_more_excludes_than_are_listed():
    many = [message(f"x{i:04}", ["root"], excluded_epoch="root") for i in range(1000)]
    inits = [message(f"e{i:04}", ["x0001", f"x{i:04}"], previous_epochs=["root"]) for i in range(130)]
    assert foreign([ROOT, *many, *inits]).keys() == {row["message_id"] for row in inits}
    found = answers(with_depths([ROOT, *many, *inits]))
    assert found["g", "e0001"] == (["x0000", *(f"x{i:04}" for i in range(2, 101))], 999)


def test_a_group_that_takes_too_many_steps_is_passed_over():
    # One sweep over 5 messages, 4 links and 2 previous epochs.
    wide = [row | {"group_id": "h"} for row in [*FORK, message("e3", ["x1"], previous_epochs=["root"])]]
    rows = with_depths([*FORK, *wide, ROOT | {"group_id": "calm"}])
    small = {("g", "e1"): (["x2"], 1), ("g", "e2"): (["x1"], 1)}
    assert answers(rows, step_limit=11) == small | {("h", None): (None, None)}
    assert answers(rows, step_limit=10) == {("g", None): (None, None), ("h", None): (None, None)}
    assert len(answers(rows, step_limit=14)) == 5


def test_unexpected_rows_are_ignored():
    """Absent and null ids, cycles, huge depths, repeated rows, unknown flags."""
    rng = random.Random(3)
    names = ["a", "b", "c", "d", "e", "f", "g", None]

    def some():
        return None if rng.random() < 0.2 else rng.choices(names, k=rng.randrange(4))

    for _ in range(300):
        rows = [
            {
                "group_id": rng.choice("gh"),
                "message_id": rng.choice(names[:7]),
                "previous": some(),
                "is_member": rng.choice([True, True, False, None]),
                "depth": rng.choice([None, 0, 1, 2, 2**31 - 1, -(2**31)]),
                "previous_epochs": some(),
                "excluded_epoch": rng.choice(names),
            }
            for _ in range(rng.randrange(20))
        ]
        list(foreign_excludes(pa.Table.from_pylist(rows, foreign_excludes.reads)))
