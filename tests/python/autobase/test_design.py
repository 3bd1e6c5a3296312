"""Orders by the design document's rule: its examples, and a literal reading of the rule."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rule_search
from autobase_oracle import Base, Id, pasts_of
from base_arrays import answers
from base_tables import drawing
from design_oracle import plain_order
from rule_search import name, simulate


def shown(base: Base) -> tuple[str, str]:
    """Return the settled nodes and the rest in order; the literal reading must agree."""
    ((order, confirmed),) = found = answers([base], "design")
    assert found == [plain_order(base)]
    names = list(map(name, order))
    return " ".join(names[:confirmed]), " ".join(names[confirmed:])


@st.composite
def bases(draw) -> Base:
    rng = random.Random(draw(st.integers(0, 2**64)))
    indexers, others, relayed = draw(st.integers(0, 5)), draw(st.integers(0, 2)), draw(st.integers(0, 1))
    batches = draw(st.sampled_from([0.0, 0.3]))
    base = simulate(rng, indexers, others, relayed, draw(st.integers(0, 40)), batches)
    # A view may hold the beginning of a batch only.
    followed = {p for i in base.nodes for p in base.previous(i)}
    ends = [i for i in sorted(base.nodes.keys() - followed) if rng.random() < 0.3]
    return base.cut(sorted(base.nodes.keys() - set(ends)))


@given(st.lists(bases(), max_size=4))
def test_the_order_agrees_with_a_plain_implementation(drawn):
    assert answers(drawn, "design") == [plain_order(base) for base in drawn]


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


def test_recursive_example_is_ordered_by_key():
    base = drawing("abc", "a1 c1 b1:a1,c1 a2:a1,c1 c2:b1 b2:b1,a2 b3:c2,b2")
    assert shown(base) == ("", "a1 c1 a2 b1 b2 c2 b3")
    assert shown(base.cut(base.past[Id(b"c", 2)])) == ("", "a1 c1 b1 c2")
    # a could settle b1 on top of c2, but has a2 beside it.
    a3 = drawing("abc", "a1 c1 b1:a1,c1 a2:a1,c1 c2:b1 a3:c2")
    assert shown(a3)[0].endswith("b1")


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
    found = [" ".join(map(name, ids)) for ids in rule_search.settled_by_both([base])[0]]
    assert found == [autobase, by_design]
    assert shown(base)[0] == by_design


def test_the_documents_rule_contradicts_itself_and_our_rule_does_not():
    # a has settled b2 at a2, and b1 and c1 go by key below it; b, without a2, has settled c1 first.
    base = drawing("abc", "a1 b1 c1 b2:c1 c2:b2 a2:c2 b3:a1,c2 c3:b3 b4:c3")
    assert shown(base.cut(base.past[Id(b"a", 2)]))[0] == "b1 c1 b2"
    assert shown(base.cut(base.past[Id(b"b", 4)]))[0] == "c1 b1 b2 a1 c2 b3"
    assert shown(base)[0] == "b1 c1 b2 a1 c2 b3"
    at, *_ = rule_search.contradiction(base)
    assert at == Id(b"b", 4)
    assert rule_search.contradiction(base, "autobase") is None


@pytest.mark.parametrize("indexers", [2, 3])
def test_unsettled_nodes_mostly_keep_their_later_order(indexers):
    found = rule_search.count(indexers, rule_search.SEED, 20)
    assert 0 < found["moved"] < found["views"]
    assert found["views by unseen"] < found["views by key"]
    assert found["pairs by unseen"] < found["pairs by key"]
    assert found["worse"] < found["better"]
