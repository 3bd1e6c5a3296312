"""Orders by the design document's rule: its examples, and a literal reading of the rule."""

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autobase_oracle import Base, Id, pasts_of, smallest_first
from base_arrays import answers, contradict
from base_tables import bases, drawing, simulate
from design_oracle import plain_order


def name(i: Id) -> str:
    return f"{i.writer.decode()}{i.length}"


def shown(base: Base) -> tuple[str, str]:
    """Return the settled nodes and the rest in order; the literal reading must agree."""
    ((order, confirmed),) = found = answers([base], "design")
    assert found == [plain_order(base)]
    names = list(map(name, order))
    return " ".join(names[:confirmed]), " ".join(names[confirmed:])


# Nodes count from 0 in the document, and from 1 here.


@pytest.mark.parametrize(
    ("words", "settled", "rest"),
    [
        # In the conflict example no observer settles a node.
        ("a1 c1 c2:a1 b1:c1", "", "a1 c1 b1 c2"),
        ("a1", "", "a1"),
        ("c1 b1:c1", "", "c1 b1"),
        ("a1 c1 c2:a1", "", "a1 c1 c2"),
        # Higher quorums settle the nodes before the quorum, and a third degree only the next node.
        ("c1 b1:c1 c2:b1", "c1", "b1 c2"),
        ("a1 b1:a1 c1:b1", "a1", "b1 c1"),
        ("a1 b1:a1 c1:b1 a2:c1", "a1 b1", "c1 a2"),
        # The recursive example is ordered by key.
        ("a1 c1 b1:a1,c1 a2:a1,c1 c2:b1 b2:b1,a2 b3:c2,b2", "", "a1 c1 a2 b1 b2 c2 b3"),
        ("a1 c1 b1:a1,c1 c2:b1", "", "a1 c1 b1 c2"),
        # Here a could settle b1 on top of c2, but has a2 beside it.
        ("a1 c1 b1:a1,c1 a2:a1,c1 c2:b1 a3:c2", "a1 c1 b1", "a2 c2 a3"),
    ],
)
def test_examples(words, settled, rest):
    assert shown(drawing("abc", words)) == (settled, rest)


@pytest.mark.parametrize(("a", "b"), ["ab", "ba"])
def test_consistent_ordering_example(a, b):
    words = f"{a}1 {b}1 c1:{a}1 {a}2:c1 c2:{b}1 {b}2:c2 c3:{b}2"
    base = drawing("abc", words)
    whole = f"{a}1 {b}1 c1 c2"
    ours = [f"{a}1", f"{a}1 c1 {a}2"]
    assert shown(drawing("abc", f"{a}1 c1:{a}1 {a}2:c1")) == (ours[0], f"c1 {a}2")
    for known in base.nodes:
        settled = shown(base.cut(base.past[known]))[0]
        assert whole.startswith(settled)
        assert settled or name(known) not in (f"{a}2", "c3")
    assert shown(base.cut(base.past[Id(b"c", 3)]))[0] == whole
    # Before that, only a has settled nodes, and the others put the node of a first, against the keys.
    b2, c2 = Id(b.encode(), 2), Id(b"c", 2)
    assert shown(base.cut(base.past[b2])) == ("", f"{whole} {b}2")
    assert shown(base.cut(base.past[c2])) == ("", whole)
    assert shown(base.cut(base.past[c2] - {c2})) == ("", f"{a}1 {b}1 c1")
    assert shown(base.cut(base.past[Id(b"c", 1)])) == ("", f"{a}1 c1")


@given(bases(), st.randoms(use_true_random=True))
def test_a_larger_view_settles_the_same_nodes(base, rng):
    ids = sorted(base.nodes)
    views = [pasts_of(base, [i]) for i in ids]
    for _ in range(20 if ids else 0):
        some = pasts_of(base, rng.sample(ids, rng.randint(1, len(ids))))
        views += [some, pasts_of(base, rng.sample(sorted(some), rng.randint(1, len(some))))]
    found = answers([base, *(base.cut(sorted(view)) for view in views)], "design")
    settled = [set(order[:confirmed]) for order, confirmed in found]
    for view, one in zip([set(ids), *views], settled, strict=True):
        for other, less in zip(views, settled[1:], strict=True):
            assert less <= one or not set(other) <= set(view)


@pytest.mark.parametrize(
    ("indexers", "words", "autobase", "by_design"),
    [
        ("abc", "a1 b1:a1 c1:a1", "a1", ""),
        ("abc", "a1 b1 c1:a1 b2:c1", "", "a1"),
        ("ab", "a1 a2 b1 a3:b1 b2:a3 a4:b2", "a1 b1 a2 a3 b2", "a1 a2 b1 a3"),
        ("abc", "b1 b2 c1 c2:b2 a1:c2 c3:a1", "b1 c1 b2 c2", "b1 b2 c1 c2"),
    ],
    ids=["one quorum that all may know", "nothing but one's own", "contradiction", "another order"],
)
def test_the_two_rules_differ_in_these_cases(indexers, words, autobase, by_design):
    base = drawing(indexers, words)
    ((order, confirmed),) = answers([base])
    assert " ".join(map(name, order[:confirmed])) == autobase
    assert shown(base)[0] == by_design


def test_the_documents_rule_contradicts_itself_and_our_rule_does_not():
    # a has settled b2 at a2, and b1 and c1 go by key below it; b, without a2, has settled c1 first.
    base = drawing("abc", "a1 b1 c1 b2:c1 c2:b2 a2:c2 b3:a1,c2 c3:b3 b4:c3")
    assert shown(base.cut(base.past[Id(b"a", 2)]))[0] == "b1 c1 b2"
    assert shown(base.cut(base.past[Id(b"b", 4)]))[0] == "c1 b1 b2 a1 c2 b3"
    assert shown(base)[0] == "b1 c1 b2 a1 c2 b3"
    views = [base, *(base.cut(base.past[i]) for i in base.nodes)]
    assert contradict(answers(views, "design"))
    assert not contradict(answers(views, "autobase"))


def turned_pairs(order: list[Id], later: list[Id]) -> int:
    """Count the pairs of nodes that have another sequence in a later order."""
    place = {i: at for at, i in enumerate(later)}
    return sum(a > b for a, b in combinations([place[i] for i in order if i in place], 2))


@pytest.mark.parametrize("indexers", [2, 3])
def test_unsettled_nodes_mostly_keep_their_later_order(indexers):
    """Nodes that a view leaves unsettled and the whole base settles keep their order more often than by key alone."""
    rng = random.Random(f"histories 1 {indexers}")
    found: Counter[str] = Counter()
    for _ in range(20):
        base = simulate(rng, indexers, steps=60)
        views = [base.cut(base.past[i]) for i in base.nodes]
        (last, settled), *orders = answers([base, *views], "design")
        for view, (order, confirmed) in zip(views, orders, strict=True):
            rest = set(order[confirmed:])
            turned = turned_pairs(order[confirmed:], last[:settled])
            turned_by_key = turned_pairs(smallest_first(view, rest, rest), last[:settled])
            found.update(turned=turned, by_key=turned_by_key)
            found.update(worse=turned > turned_by_key, better=turned < turned_by_key)
    assert found["turned"] < found["by_key"]
    assert found["worse"] < found["better"]
