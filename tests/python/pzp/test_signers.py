"""Keys of accounts: named examples, and random accounts compared with the rules written as set operations."""

import random
import time

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.formats.pzp import signers
from dbt_tangles.formats.pzp.signers import MOST_GAPS, key_authority
from signers_oracle import add, ask, delete, expected_of, question, root, table_of, verdicts_of

K1 = add("b", "k1", ["k0"])
#: By name: messages, and questions (a key, the letters of its tips) with their answers. Random accounts have others.
EXAMPLES = {
    "a root brings its key": ([root()], [("k0", "A", True), ("k1", "A", False), (None, "A", False)]),
    "a root adds its key by any signer": ([root(signers=None)], [("k0", "A", True)]),
    **{
        f"a root with the action {action}": ([root(key_action=action), K1], [("k0", "A", False), ("k1", "b", False)])
        for action in (None, "del", "ADD")
    },
    "a root without a key": ([root(key=None)], [(None, "A", False)]),
    "a deleted key signs at tips before its deletion": (
        [root(), K1, delete("c", "k1", ["k0"], ["b"], 2)],
        [("k1", "b", True), ("k1", "c", False), ("k0", "c", True)],
    ),
    "a key that deleted itself adds nothing": (
        [root(), delete("b", "k0", ["k0"]), add("c", "k0", ["k0"], ["b"], 2), add("d", "k1", ["k0"], ["c"], 3)],
        [("k0", "d", False), ("k1", "d", False)],
    ),
    "a key that is added again has the new powers": (
        [
            *(root(), add("b", "k1", ["k0"], powers="sad"), delete("c", "k1", ["k0"], ["b"], 2)),
            *(add("d", "k1", ["k0"], ["c"], 3), add("e", "k2", ["k1"], ["d"], 4)),
        ],
        [("k1", "b", True), ("k1", "c", False), ("k1", "d", True), ("k2", "e", False)],
    ),
    "tips outside the account are ignored": ([root(), K1], [("k1", "?A", False), ("k1", "?b", True)]),
    "depth and prev of the root are ignored": (
        [root(depth=7, prev=["b"]), K1],
        [("k0", "b", True), ("k1", "b", True), ("k1", "A", False)],
    ),
    "the largest depths are ordered": (
        [root(), add("c", "k1", ["k0"], ["A"], 2**63 - 2), delete("b", "k1", ["k0"], ["c"], 2**63 - 1)],
        [("k1", "c", True), ("k1", "b", False)],
    ),
    "links to itself, to the same depth, and from before the root": (
        [
            *(root(), add("b", "k1", ["k0"], ["b", "c", "A"]), add("c", "k2", ["k0"], ["b"])),
            add("d", "k3", ["k0"], ["A"], -5),
        ],
        [
            *(("k1", "b", True), ("k2", "b", False), ("k1", "c", True), ("k2", "c", True)),
            *(("k3", "d", False), ("k0", "d", False), ("k0", "dA", True)),
        ],
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name):
    messages, asked = EXAMPLES[name]
    assert ask(messages, *(question(key, [*tips]) for key, tips, _ in asked)) == [answer for *_, answer in asked]


def test_the_list_of_gaps_is_limited():
    names = [f"m{n:04}" for n in range(500)]
    messages = [root()] + [add(name, "k1", ["k0"], ["A", "same", f"no-{name}"]) for name in names]
    last = add("last", "k2", ["k0"], names, 2)
    gaps = ["no-" + name for name in names[: MOST_GAPS - 1]] + ["same"]
    assert verdicts_of([*messages, last, question("k2", ["last"])])[-1] == (None, gaps)
    tips = [f"t{n}" for n in range(500)]
    assert verdicts_of([*messages, question("k2", tips)])[-1] == (None, sorted(tips))


@pytest.mark.parametrize("length", [5, 63, 64, 65, 129])
def test_a_chain_is_answered_at_each_of_its_tips(length, monkeypatch):
    monkeypatch.setattr(signers, "QUESTIONS_AT_ONCE", 64)
    names = [f"m{n:03}" for n in range(length)]
    messages = [root(message="m000")]
    for n in range(1, length):
        messages.append(add(names[n], f"k{n}", [f"k{n - 1}"], [names[n - 1]], n, powers="sa"))
    numbers = [(n, tip) for n in range(0, length, 7) for tip in range(length)]
    random.Random(length).shuffle(numbers)
    asked = [question(f"k{n}", [names[tip]]) for n, tip in numbers]
    assert ask(messages, *asked) == [n <= tip for n, tip in numbers]


KEYS = [f"k{n}" for n in range(5)]
NAMES = [*"aBbCcD9dE1zZ"]


@st.composite
def accounts(draw):
    """Generate messages of an account: mostly valid, with wrong depths, missing prev and roots with few powers."""
    names = draw(st.permutations(NAMES))[: draw(st.integers(1, len(NAMES)))]
    powers = st.sampled_from(["sad", "sad", "sa", "sd", "s", "a", "d", ""])
    signers = st.lists(st.sampled_from([*KEYS, "k0", "k0", None, "k9"]), max_size=3)
    messages = [root(message=names[0])]
    if draw(st.integers(0, 3)) == 0:
        granted = draw(powers)
        messages[0] |= {"is_signing_key": "s" in granted, "may_add_keys": "a" in granted}
        messages[0] |= {"may_delete_keys": "d" in granted, "prev": draw(st.lists(st.sampled_from(names), max_size=2))}
    depths = {names[0]: 0}
    for n in range(1, len(names)):
        prev = draw(st.lists(st.sampled_from(names[:n]), min_size=1, max_size=3))
        depth = 1 + max(depths[name] for name in prev)
        if draw(st.integers(0, 9)) == 0:
            depth = draw(st.integers(-2, 8))
            prev += draw(st.lists(st.sampled_from([*names, "?", "gone"]), max_size=3))
        depths[names[n]] = depth
        key = draw(st.sampled_from([*KEYS, None]) if n % 7 == 0 else st.sampled_from(KEYS))
        kind = draw(st.sampled_from(["add", "add", "add", "del", None]))
        row = add(names[n], key, draw(signers), prev, depth, draw(powers))
        messages.append(row | {"key_action": kind, "is_erased": draw(st.integers(0, 29)) == 0})
    if draw(st.integers(0, 19)) == 0:
        messages.pop(0)
    return messages


def questions():
    tips = st.none() | st.lists(st.sampled_from([*NAMES, "?", "lost", None]), max_size=3)
    return st.lists(st.builds(question, st.sampled_from([*KEYS, None, "k9"]), tips), min_size=5, max_size=20)


@given(accounts(), questions())
def test_random_accounts_keep_the_rules(messages, asked):
    rows = [*messages, *asked]
    assert verdicts_of(rows) == expected_of(rows)


@pytest.mark.parametrize("seed", range(6))
def test_large_random_accounts_keep_the_rules(seed):
    dice = random.Random(seed)
    rows = []
    for account in ("A", "B"):
        names = [account, *(f"{dice.choice('abXY')}{n}" for n in range(120))]
        keys = [f"k{n}" for n in range(30)]
        rows.append(root(account=account))
        depths = {account: 0}
        for n in range(1, len(names)):
            prev = dice.sample(names[max(0, n - 9) : n], min(n, dice.randint(1, 3)))
            depth = depths[names[n]] = 1 + max(depths[name] for name in prev)
            signers = dice.sample(keys, 3) + ["k0"] * (dice.random() < 0.5)
            kind = "del" if dice.random() < 0.2 else "add"
            key = dice.choice(keys[1:])
            row = add(names[n], key, signers, prev, depth, dice.choice(["sad", "s", "sa", "d"]), account)
            rows.append(row | {"key_action": kind})
        rows += [question(dice.choice(keys), dice.sample(names, dice.choice([1, 1, 2])), account) for _ in range(500)]
    dice.shuffle(rows)
    expected = expected_of(rows)
    answers = [answer for answer, _ in expected]
    assert answers.count(True) > 100
    assert answers.count(False) > 100
    assert verdicts_of(rows) == expected


def chain_of(count):
    return [root(message="m0"), *(add(f"m{n}", "k1", ["k0"], [f"m{n - 1}"], n) for n in range(1, count))]


@pytest.mark.parametrize("tips", [lambda n: ["m19999", "?"], lambda n: [f"m{n}", "?"]], ids=["equal", "different"])
def test_many_questions_about_a_long_chain(tips):
    count = 20_000
    table = table_of([*chain_of(count), *(question("k1", tips(n)) for n in range(count))])
    began = time.process_time()
    answers = pa.Table.from_batches(key_authority(table), key_authority.writes)["is_key_authorised"].to_pylist()
    assert time.process_time() - began < 5
    assert answers.count(True) >= count - 1
