"""Orders of bases: recorded answers of Autobase, the oracle, and replicas that must not contradict each other."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autobase_oracle as oracle
from autobase_oracle import BROKEN_RULES, Base, Id, Node, pasts_of
from base_arrays import answers, contradict
from base_tables import drawing, simulate
from base_vectors import replicas
from conftest import DATA


@pytest.mark.parametrize("name", ["design", "random", "hard", "large", "full"])
def test_every_replica_answers_as_autobase(name):
    recorded = list(replicas(name))
    found = answers([one.base for one in recorded])
    assert [one.name for one, answer in zip(recorded, found, strict=True) if answer != (one.order, one.confirmed)] == []


@pytest.mark.parametrize("name", ["design", "random", "hard", "full"])
def test_the_oracle_answers_as_autobase(name):
    wrong = [one.name for one in replicas(name) if oracle.order_of(one.base) != (one.order, one.confirmed)]
    assert wrong == []


@st.composite
def drawn(draw) -> tuple[Base, random.Random]:
    """Draw a base, and the source of randomness for its observers."""
    rng = draw(st.randoms(use_true_random=True))
    sizes = draw(st.tuples(st.integers(0, 7), st.integers(0, 2), st.integers(0, 1), st.integers(1, 100)))
    return simulate(rng, *sizes, draw(st.sampled_from([0.0, 0.2]))), rng


def random_cut(base: Base, rng: random.Random, most: int = 6) -> Base:
    """Pass a few nodes and their ancestors to an observer."""
    ids = sorted(base.nodes)
    return base.cut(pasts_of(base, rng.sample(ids, min(len(ids), rng.randint(1, most)))))


def without_ends_of_batches(base: Base) -> Base:
    """Remove the end of each batch that is not followed."""
    followed = {p for i in base.nodes for p in base.previous(i)}
    mates = {mate for i in base.nodes for mate in base.batch_of(i) if mate != i}
    return base.cut(base.nodes.keys() - (mates - followed))


def observers(base: Base, rng: random.Random, cuts: int) -> list[Base]:
    """Return the base, the view of each writer, and some other views."""
    last = {i.writer: i for i in sorted(base.nodes)}
    views = [base.cut(base.past[i]) for i in last.values()]
    return [base, without_ends_of_batches(base), *views, *(random_cut(base, rng) for _ in range(cuts))]


def restarted(base: Base, rng: random.Random) -> Base:
    """Remove the nodes that an observer settled, and choose other indexers."""
    order, confirmed = oracle.order_of(random_cut(base, rng))
    settled = set(order[:confirmed])
    keys = sorted({i.writer for i in base.nodes if not base.nodes[i].is_relayed})
    indexers = tuple(rng.sample(keys, rng.randint(0, len(keys))))
    floor = {key: sum(i.writer == key for i in settled) for key in indexers}
    return Base(indexers, {i: node for i, node in base.nodes.items() if i not in settled}, floor)


@given(drawn())
def test_bases_as_observers_know_them_with_restarts_and_broken_batches(drawn):
    base, rng = drawn
    bases = [*observers(base, rng, 2), restarted(base, rng), restarted(base, rng)]
    assert answers(bases) == [oracle.order_of(base) for base in bases]


@settings(max_examples=20)
@given(st.integers(8, 11), st.sampled_from([0.0, 0.02, 0.1, 0.4]), st.randoms(use_true_random=True))
def test_chains_of_many_writers(indexers, forking, rng):
    """Each writer writes on top of the last node, or at times of one of the last few: mostly there is one tail."""
    keys = [bytes([rng.randrange(256), at]) for at in range(indexers)]
    nodes: list[Node] = []
    length: Counter[bytes] = Counter()
    for _ in range(5 * indexers):
        key = rng.choice(keys)
        back = rng.randint(1, 5) if rng.random() < forking else 1
        length[key] += 1
        nodes.append(Node(Id(key, length[key]), tuple(node.id for node in nodes[-back:][:1])))
    base = Base(tuple(keys), {node.id: node for node in nodes})
    bases = [base, *(random_cut(base, rng, 2) for _ in range(2))]
    assert answers(bases) == [oracle.order_of(one) for one in bases]


def any_base(seed: int, most_steps: int) -> tuple[Base, random.Random]:
    """Draw a base of three to five indexers that seldom agree."""
    rng = random.Random(seed)
    sizes = rng.choice([3, 3, 3, 4, 5]), rng.choice([0, 0, 1]), 0, rng.randint(15, most_steps)
    return simulate(rng, *sizes, rng.choice([0, 0, 0.2])), rng


@pytest.mark.parametrize("histories", [100, pytest.param(1_000, marks=pytest.mark.long)])
def test_no_two_observers_contradict_each_other(histories):
    settled = 0
    for seed in range(histories):
        found = answers(observers(*any_base(seed, 100), 20))
        assert not contradict(found), seed
        settled += sum(confirmed for _, confirmed in found)
    assert settled > 100 * histories


@pytest.mark.parametrize("rule", BROKEN_RULES)
def test_by_a_broken_rule_some_observers_contradict_each_other(rule):
    def fails(seed: int) -> bool:
        return contradict(oracle.order_of(base, rule) for base in observers(*any_base(seed, 40), 3))

    assert any(fails(seed) for seed in range(3000))


def test_observers_agree_although_the_choice_of_merge_matters():
    # The only base of about 83,000 random ones in which the chosen merge, or the number of rounds, changes the settled
    # nodes.
    base = drawing("abcdefg", (DATA / "autobase" / "two_merges.txt").read_text())
    rng = random.Random(1)
    known = [base, *(base.cut(base.past[i]) for i in base.nodes), *(random_cut(base, rng) for _ in range(100))]
    found = answers(known)
    assert not contradict(found)
    assert found[0] == oracle.order_of(base)
    assert found[0][1] > 200
