"""The order of a base: what Autobase itself answered, the oracle, and replicas who must not contradict each other."""

from __future__ import annotations

import gzip
import json
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autobase_oracle as oracle
from autobase_oracle import BROKEN_RULES, Base, Id, Node, pasts_of
from base_arrays import arrays_of
from dbt_tangles.autobase.consensus import clocks, order_views

VECTORS = Path(__file__).parents[2] / "data" / "autobase"
Answer = tuple[list[Id], int]


def answers(bases: list[Base]) -> list[Answer]:
    """Order all bases in one call."""
    arrays, ids = arrays_of(bases)
    order, placed, confirmed = order_views(*arrays)
    view_start = arrays[0]
    found = []
    for v in range(len(bases)):
        begin, end = view_start[v], view_start[v + 1]
        assert (order[begin + placed[v] : end] == -1).all()
        found.append(([ids[x] for x in order[begin : begin + placed[v]]], int(confirmed[v])))
    return found


def views_of(name: str) -> Iterator[tuple[str, Base, Answer]]:
    """Each replica of each case of a file: whose it is, what it knows, and its answer."""
    with gzip.open(VECTORS / f"{name}.jsonl.gz", "rt") as lines:
        for line in lines:
            case = json.loads(line)
            for replica in case["replicas"]:
                indexers = tuple(bytes.fromhex(key) for key in replica.get("indexers", case["indexers"]))
                floor = {bytes.fromhex(key): length for key, length in replica.get("base", {}).items()}
                nodes, by_name = {}, {}
                for row in replica.get("nodes", case.get("nodes", [])):
                    i = Id(bytes.fromhex(row["writer"]), row["length"])
                    if "known" in replica and i.length > replica["known"].get(row["writer"], 0):
                        continue
                    heads = tuple(Id(bytes.fromhex(key), length) for key, length in row["heads"])
                    nodes[i] = Node(i, heads, row["batch"])
                    by_name[row["id"]] = i
                for i in nodes:
                    if i.writer in indexers and Id(i.writer, i.length - 1) not in nodes:
                        floor[i.writer] = i.length - 1
                answer = [by_name[name] for name in replica["order"]], replica["confirmed"]
                yield f"{case['id']} {replica['name']}", Base(indexers, nodes, floor), answer


@pytest.mark.parametrize("name", ["design", "random", "hard", "large", "full"])
def test_every_replica_answers_as_autobase(name):
    names, bases, expected = zip(*views_of(name), strict=True)
    found = answers(list(bases))
    assert [who for who, one, other in zip(names, found, expected, strict=True) if one != other] == []


@pytest.mark.parametrize("name", ["design", "random", "hard", "full"])
def test_the_oracle_answers_as_autobase(name):
    assert [who for who, base, answer in views_of(name) if oracle.order_of(base) != answer] == []


@pytest.mark.parametrize("rule", BROKEN_RULES)
def test_recorded_answers_tell_a_broken_rule(rule):
    assert any(
        oracle.order_of(base, rule) != answer for name in ("hard", "random") for _, base, answer in views_of(name)
    )


class Gossip:
    """Writers who write on top of all they know, and tell each other some of it."""

    def __init__(self, rng: random.Random, indexers: int, others: int, relayed: int):
        self.rng = rng
        keys = [bytes([rng.randrange(256), at]) for at in range(indexers + others + relayed)]
        self.writers = keys
        self.indexers = tuple(keys[:indexers])
        self.relayed = set(keys[indexers + others :])
        self.nodes: dict[Id, Node] = {}
        self.clock: dict[Id, dict[bytes, int]] = {}
        self.knows: dict[bytes, dict[bytes, int]] = {key: {} for key in keys}

    def write(self, key: bytes, batch: int = 1):
        """Write a batch."""
        knows = self.knows[key]
        for left in range(batch, 0, -1):
            last = [Id(*item) for item in knows.items()]
            heads = [i for i in last if not any(self.clock[j].get(i.writer, 0) >= i.length for j in last if j != i)]
            i = Id(key, knows.get(key, 0) + 1)
            self.nodes[i] = Node(i, tuple(heads), left, key in self.relayed)
            knows[key] = i.length
            self.clock[i] = dict(knows)

    def tell(self, key: bytes, other: bytes, is_partial: bool):
        """Let a writer know what another does, or some of it: with all that it follows, and batches as a whole."""
        knows = self.knows[other]
        for writer, length in sorted(self.knows[key].items()):
            mine = knows.get(writer, 0)
            if length <= mine:
                continue
            if is_partial and self.rng.random() < 0.5:
                length = self.rng.randint(mine + 1, length)
            while self.nodes[Id(writer, length)].batch > 1:
                length += 1
            for k, known in self.clock[Id(writer, length)].items():
                knows[k] = max(knows.get(k, 0), known)

    def base(self) -> Base:
        """All there is."""
        return Base(self.indexers, self.nodes)

    def known_to(self, key: bytes) -> Base:
        """What a writer knows."""
        return self.base().cut(Id(k, at) for k, n in self.knows[key].items() for at in range(1, n + 1))


def simulated(
    rng: random.Random,
    indexers: int,
    others: int = 0,
    relayed: int = 0,
    steps: int = 60,
    writing: float = 0.4,
    batches: float = 0.0,
    partial: float = 0.3,
    splitting: float = 0.0,
) -> Gossip:
    """Let writers write and tell each other things, now and then in two halves that do not.

    Args:
        rng: Whence all chances come.
        indexers: How many indexing writers.
        others: How many that do not index.
        relayed: How many relayed ones.
        steps: How often someone writes or tells.
        writing: How many of these are writing.
        batches: How much of what is written is batches.
        partial: How much of what is told is not everything.
        splitting: How likely each step is to begin or end a division.
    """
    gossip = Gossip(rng, indexers, others, relayed)
    half = None
    for _ in range(steps):
        if rng.random() < splitting:
            half = {key: rng.random() < 0.5 for key in gossip.writers} if half is None else None
        key, other = rng.choice(gossip.writers), rng.choice(gossip.writers)
        if rng.random() < writing:
            gossip.write(key, rng.randint(2, 3) if rng.random() < batches else 1)
        elif key != other and (half is None or half[key] == half[other]):
            gossip.tell(key, other, rng.random() < partial)
    return gossip


@st.composite
def gossips(draw, most_indexers: int = 7, most_steps: int = 120) -> tuple[Gossip, random.Random]:
    """Writers after a while, and more chances."""
    rng = draw(st.randoms(use_true_random=True))
    indexers = draw(st.integers(0, most_indexers))
    gossip = simulated(
        rng,
        indexers,
        draw(st.integers(0 if indexers else 1, 2)),
        draw(st.integers(0, 1)),
        draw(st.integers(1, most_steps)),
        draw(st.sampled_from([0.1, 0.3, 0.6])),
        draw(st.sampled_from([0.0, 0.2])),
        draw(st.sampled_from([0.0, 0.3, 0.9])),
        draw(st.sampled_from([0.0, 0.05, 0.2])),
    )
    return gossip, rng


def random_cut(base: Base, rng: random.Random, most: int = 6) -> Base:
    """Let somebody know a few nodes and what one knows with them."""
    ids = sorted(base.nodes)
    return base.cut(pasts_of(base, rng.sample(ids, min(len(ids), rng.randint(1, most)))))


def without_ends_of_batches(base: Base) -> Base:
    """Lose the end of each batch that nobody follows."""
    followed = {p for i in base.nodes for p in base.previous(i)}
    mates = {mate for i in base.nodes for mate in base.batch_of(i) if mate != i}
    return base.cut(base.nodes.keys() - (mates - followed))


def observers(gossip: Gossip, rng: random.Random, cuts: int) -> list[Base]:
    """Who knows all, each writer, and some who know this and that."""
    base = gossip.base()
    cut = [random_cut(base, rng) for _ in range(cuts)]
    return [base, without_ends_of_batches(base), *(gossip.known_to(key) for key in gossip.writers), *cut]


def restarted(base: Base, rng: random.Random) -> Base:
    """Take away what some observer found settled, and let other writers be indexers."""
    order, confirmed = oracle.order_of(random_cut(base, rng))
    settled = set(order[:confirmed])
    keys = sorted({i.writer for i in base.nodes if not base.nodes[i].is_relayed})
    indexers = tuple(rng.sample(keys, rng.randint(0, len(keys))))
    floor = {key: sum(i.writer == key for i in settled) for key in indexers}
    return Base(indexers, {i: node for i, node in base.nodes.items() if i not in settled}, floor)


@given(gossips())
def test_bases_as_observers_know_them(drawn):
    gossip, rng = drawn
    bases = observers(gossip, rng, 2) if gossip.nodes else [gossip.base()]
    assert answers(bases) == [oracle.order_of(base) for base in bases]


@given(gossips())
def test_restarts_and_broken_batches(drawn):
    gossip, rng = drawn
    base = gossip.base()
    bases = [without_ends_of_batches(base), *([restarted(base, rng), restarted(base, rng)] if gossip.nodes else [])]
    assert answers(bases) == [oracle.order_of(one) for one in bases]


@given(st.lists(gossips(most_steps=300), min_size=1, max_size=4))
def test_nothing_depends_on_numbers_or_company(drawn):
    bases = [gossip.base() for gossip, _ in drawn] + [Base((), {}), Base((b"a",), {})]
    rng = drawn[0][1]
    expected = answers(bases)
    assert [answers([base])[0] for base in bases] == expected
    for base in bases:
        base.indexers = tuple(rng.sample(base.indexers, len(base.indexers)))
    assert answers(bases[::-1]) == expected[::-1]


@settings(max_examples=20)
@given(st.integers(8, 11), st.sampled_from([0.0, 0.02, 0.1, 0.4]), st.randoms(use_true_random=True))
def test_chains_of_many_writers(indexers, forking, rng):
    """Each writes on top of the last node, or at times of one of the last few: mostly there is one tail."""
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


@given(gossips())
def test_clocks_are_what_is_known_of_each_indexer(drawn):
    gossip, _ = drawn
    bases = [gossip.base(), Base((), gossip.nodes)]
    arrays, ids = arrays_of(bases)
    view_start, start, previous, _, _, _, indexer, _, floor_start, _ = arrays
    clock_start, clock = clocks(view_start, start, previous, indexer, floor_start)
    expected = [sum(i.writer == key for i in bases[0].past[x]) for x in ids[: view_start[1]] for key in gossip.indexers]
    assert clock.tolist() == expected
    assert clock_start.tolist() == [0, len(expected), len(expected)]


def contradict(found: Iterable[Answer]) -> bool:
    """Whether one's settled order is not how another's begins."""
    settled = sorted((order[:confirmed] for order, confirmed in found), key=len)
    return any(one != settled[-1][: len(one)] for one in settled)


def any_gossip(seed: int, most_steps: int) -> tuple[Gossip, random.Random]:
    """Three to five indexers, seldom all of one mind."""
    rng = random.Random(seed)
    gossip = simulated(
        rng,
        rng.choice([3, 3, 3, 4, 5]),
        rng.choice([0, 0, 1]),
        steps=rng.randint(15, most_steps),
        writing=rng.choice([0.3, 0.5]),
        batches=rng.choice([0, 0, 0.2]),
        partial=rng.choice([0, 0.3, 0.9]),
        splitting=rng.choice([0, 0.05]),
    )
    gossip.write(gossip.writers[0])
    return gossip, rng


@pytest.mark.parametrize("histories", [100, pytest.param(1_000, marks=pytest.mark.exhaustive)])
def test_no_two_observers_contradict_each_other(histories):
    settled = 0
    for seed in range(histories):
        gossip, rng = any_gossip(seed, 200)
        found = answers(observers(gossip, rng, 20))
        assert not contradict(found), seed
        settled += sum(confirmed for _, confirmed in found)
    assert settled > 100 * histories


@pytest.mark.parametrize("rule", BROKEN_RULES)
def test_by_a_broken_rule_some_observers_contradict_each_other(rule):
    def fails(seed: int) -> bool:
        gossip, rng = any_gossip(seed, 60)
        return contradict(oracle.order_of(base, rule) for base in observers(gossip, rng, 3))

    assert any(fails(seed) for seed in range(3000))


def drawing(indexers: str, lines: str, relayed: str = "") -> Base:
    """Read a base, a node a word: writer, length, and behind a colon what it follows besides the writer's previous."""
    nodes = {}
    for word in lines.split():
        name, _, heads = word.partition(":")
        name, _, batch = name.partition("*")
        i, *above = (Id(n[0].encode(), int(n[1:])) for n in (name, *filter(None, heads.split(","))))
        nodes[i] = Node(i, tuple(above), int(batch or 1), name[0] in relayed)
    return Base(tuple(key.encode() for key in indexers), nodes)


def shown(base: Base) -> tuple[str, str]:
    """What is settled, and what comes behind it; the oracle must agree."""
    ((order, confirmed),) = found = answers([base])
    assert found == [oracle.order_of(base)]
    names = [f"{i.writer.decode()}{i.length}" for i in order]
    return " ".join(names[:confirmed]), " ".join(names[confirmed:])


def test_observers_agree_where_it_matters_which_merge_is_looked_below_first():
    # Of about 83,000 random bases the one in which that, or how often the rule is applied, changes what is settled.
    base = drawing("abcdefg", (VECTORS / "two_merges.txt").read_text())
    rng = random.Random(1)
    known = [base, *(base.cut(base.past[i]) for i in base.nodes), *(random_cut(base, rng) for _ in range(100))]
    found = answers(known)
    assert not contradict(found)
    assert found[0] == oracle.order_of(base)
    assert found[0][1] > 200


def test_two_of_three_who_know_of_each_other_settle():
    assert shown(drawing("abc", "a1 b1:a1")) == ("", "a1 b1")
    assert shown(drawing("abc", "a1 b1:a1 a2:b1")) == ("a1", "b1 a2")
    assert shown(drawing("abc", "a1 b1:a1 c1:b1")) == ("a1", "b1 c1")


def test_a_single_ack_settles_what_nobody_is_beside():
    assert shown(drawing("ab", "a1 b1:a1")) == ("a1", "b1")
    assert shown(drawing("abc", "a1 b1:a1 c1:a1")) == ("a1", "b1 c1")


def test_forks_may_be_merged_by_who_does_not_index():
    assert shown(drawing("abc", "a1 c1 n1:a1,c1 b1:n1")) == ("", "a1 c1 n1 b1")
    assert shown(drawing("abc", "a1 c1 n1:a1,c1 b1:n1 a2:b1 b2:a2")) == ("a1 c1 n1 b1", "a2 b2")


def test_what_is_settled_may_contradict_the_order_of_keys():
    base = drawing("xyz", "x1 y1:x1 a1 z1:a1 x2:y1")
    assert shown(base) == ("x1", "a1 y1 x2 z1")


def test_without_indexers_nothing_is_settled():
    assert shown(drawing("", "b1 a1 a2:b1 c1:b1")) == ("", "a1 b1 a2 c1")


def test_one_indexer_settles_whatever_it_knows():
    assert shown(drawing("b", "a1 c1 b1:c1 a2 b2 c2")) == ("c1 b1 b2", "a1 a2 c2")
    assert shown(drawing("b", "")) == ("", "")


def test_indexers_of_whom_nothing_is_known_count_for_the_majority():
    assert shown(drawing("abcde", "a1 b1:a1 a2:b1 b2:a2")) == ("", "a1 b1 a2 b2")


def test_a_batch_is_settled_as_a_whole_as_far_as_it_is_known():
    assert shown(drawing("a", "b1*3 b2*2 b3 a1:b3")) == ("b1 b2 b3 a1", "")
    assert shown(drawing("a", "a1*3 a2*2 b1")) == ("a1 a2", "b1")
    # Nobody follows the middle of a batch; if somebody does, the rest of it comes along with all that follows.
    assert shown(drawing("a", "c1 b1*2 b2:c1 a1:b1")) == ("b1 a1 c1 b2", "")
    assert shown(drawing("ab", "b1*2 a1:b1 b2:a1 a2:b2")) == ("b1 a1 b2", "a2")


def test_a_batch_ends_with_its_writer():
    assert shown(drawing("a", "a1*9 a2*9 b1")) == ("a1 a2", "b1")


def test_a_relayed_node_is_in_the_order_once_it_is_settled():
    assert shown(drawing("a", "b1 r1:b1 a1", relayed="r")) == ("a1", "b1")
    assert shown(drawing("a", "b1 r1:b1 a1:r1 r2", relayed="r")) == ("b1 r1 a1", "")
    # What follows a relayed node follows what that follows, but does not wait for its turn.
    assert shown(drawing("x", "c1 r1:c1 b1:r1 d1 a1:d1", relayed="r")) == ("", "c1 b1 d1 a1")
    assert shown(drawing("", "r1 r2:c1 c1 b1:r2 r3:b1", relayed="r")) == ("", "c1 b1")


def test_lengths_count_from_what_was_settled_before():
    base = drawing("abc", "a5 b7:a5 a6:b7 d9:a4")
    base.floor = {b"a": 4, b"b": 6, b"c": 3}
    assert shown(base) == ("a5", "b7 a6 d9")


def large_base(writers: int, indexers: int, rows: list[tuple[int, list[int]]]) -> tuple[np.ndarray, ...]:
    """Number a base given as writers and what each node follows, by turn; every writer's previous node is added."""
    writer = np.array([w for w, _ in rows])
    by_place = np.argsort(writer, kind="stable")
    place = np.empty(len(rows), np.int64)
    place[by_place] = np.arange(len(rows))
    last, start, previous = {}, [0], [None] * len(rows)
    length = np.empty(len(rows), np.int64)
    for turn, (w, heads) in enumerate(rows):
        before = last.get(w)
        previous[place[turn]] = place[list({*heads, before} if before is not None else set(heads))]
        length[place[turn]] = 1 if before is None else length[place[before]] + 1
        last[w] = turn
    for at in previous:
        start.append(start[-1] + len(at))
    rank = writer[by_place].astype(np.int32)
    return (
        np.array([0, len(rows)], np.int64),
        np.array(start, np.int64),
        np.concatenate(previous).astype(np.int32),
        rank,
        length,
        np.ones(len(rows), np.int32),
        np.where(rank < indexers, rank, -1).astype(np.int32),
        np.zeros(len(rows), np.bool_),
        np.array([0, indexers], np.int64),
        np.zeros(indexers, np.int64),
    )


def timed(arrays: tuple[np.ndarray, ...]) -> tuple[int, float]:
    """How much is settled, and in how many seconds."""
    answers([drawing("abc", "a1 b1:a1 a2:b1")])
    begin = time.process_time()
    confirmed = order_views(*arrays)[2]
    return int(confirmed[0]), time.process_time() - begin


def in_turns(writers: int, nodes: int) -> list[tuple[int, list[int]]]:
    """One after another, each on top of the last."""
    return [(turn % writers, [turn - 1] if turn else []) for turn in range(nodes)]


def in_rounds(writers: int, rounds: int, online: int | None = None) -> list[tuple[int, list[int]]]:
    """All those online at once on top of the round before: forks without end."""
    online = online or writers
    return [
        (w, list(range(r * online - online, r * online)) if r else []) for r in range(rounds) for w in range(online)
    ]


def acked_forks(rounds: int) -> list[tuple[int, list[int]]]:
    """The second follows the first, the third always writes beside both."""
    rows = []
    for at in range(0, 3 * rounds, 3):
        rows += [(0, [at - 2, at - 1] if at else []), (1, [at]), (2, [at - 3] if at else [])]
    return rows


def healed(writers: int, rows: list[tuple[int, list[int]]], turns: int = 4) -> list[tuple[int, list[int]]]:
    """Let all agree afterwards."""
    followed = {p for _, heads in rows for p in heads}
    loose = [turn for turn in range(len(rows)) if turn not in followed]
    top = [(0, loose)] + [(turn % writers, [len(rows) + turn - 1]) for turn in range(1, turns * writers)]
    return rows + top


@pytest.mark.parametrize("writers", [*(pytest.param(count, marks=pytest.mark.exhaustive) for count in (1, 3)), 9])
def test_a_chain_of_200_000(writers):
    confirmed, seconds = timed(large_base(writers, writers, in_turns(writers, 200_000)))
    assert confirmed == 200_000 - 2 * (writers // 2)
    assert seconds < 5


def test_200_indexers_among_2_000_writers():
    rows = in_turns(2_000, 10_000)
    confirmed, seconds = timed(large_base(2_000, 200, rows))
    assert 0 < confirmed < 10_000
    assert seconds < 5


@pytest.mark.parametrize(
    ("indexers", "rows"),
    [
        (3, in_rounds(3, 3_400)),
        (9, in_rounds(9, 1_200)),
        (9, in_rounds(9, 2_500, online=4)),
        (9, in_turns(4, 10_000)),
        (3, acked_forks(3_400)),
        (200, in_rounds(200, 50)),
    ],
    ids=["three", "nine", "a minority", "a minority in turns", "acked", "many"],
)
def test_forks_without_end_and_their_end(indexers, rows):
    confirmed, seconds = timed(large_base(indexers, indexers, rows))
    assert confirmed == 0
    assert seconds < 5
    more = healed(indexers, rows)
    confirmed, seconds = timed(large_base(indexers, indexers, more))
    assert len(rows) < confirmed < len(more)
    assert seconds < 5


def altered(column: int, at: int, value: int) -> tuple[np.ndarray, ...]:
    """A small base with something wrong."""
    arrays, _ = arrays_of([drawing("ab", "a1 b1:a1 a2:b1 c1:a2")])
    arrays[column][at] = value
    return arrays


@pytest.mark.parametrize(
    ("message", "arrays"),
    [
        ("do not fit together", altered(0, 1, 3)),
        ("do not fit together", altered(1, 4, 3)),
        ("floors are not those", altered(8, 1, 1)),
        ("leaves its view", altered(2, 0, 4)),
        ("leaves its view", altered(2, 0, -1)),
        ("close a cycle", altered(2, 2, 1)),
        ("ascend by writer", altered(3, 3, 1)),
        ("ascend by writer", altered(4, 1, 1)),
        ("same indexer", altered(6, 1, -1)),
        ("is relayed", altered(7, 0, 1)),
        ("has no floor", altered(6, 3, 2)),
        ("two logs", altered(6, 3, 1)),
        ("has a hole", altered(4, 1, 3)),
        ("not above its floor", altered(9, 0, 1)),
    ],
)
def test_arrays_that_cannot_be(message, arrays):
    with pytest.raises(ValueError, match=message):
        order_views(*arrays)


def test_columns_of_other_nodes():
    arrays, _ = arrays_of([drawing("ab", "a1 b1:a1")])
    with pytest.raises(ValueError, match="same nodes"):
        order_views(*arrays[:5], arrays[5][:1], *arrays[6:])


def test_an_indexer_follows_its_own_log():
    arrays, _ = arrays_of([drawing("a", "a1 a2")])
    with pytest.raises(ValueError, match="the one before"):
        order_views(arrays[0], np.zeros(3, np.int64), arrays[2][:0], *arrays[3:])
