"""Orders random bases by the design document's rule and by the rule in use, and compares the orders.

Run as a script with --histories, it lets simulated writers make that many histories of `STEPS` steps each, and counts
those on which the document's rule contradicts itself: the order that a writer had settled differs from the order that
all nodes settle. It also counts the views (the bases below single nodes) in which nodes that the whole base settles,
and the view does not, have another order than in the whole base. Each view is ordered twice: with nodes that may be
settled unseen first, and by key alone.
"""

import argparse
import random
from collections import Counter
from itertools import combinations

from autobase_oracle import Base, Id, Node, smallest_first
from base_arrays import answers

SEED = 1
STEPS = 60


def simulate(
    rng: random.Random,
    indexers: int,
    others: int = 0,
    relayed: int = 0,
    steps: int = 12,
    batches: float = 0.0,
) -> Base:
    """Let writers write on top of the nodes they know, and learn the nodes of another writer or the past of one."""
    keys = [letter.encode() for letter in "abcdefghijklm"[: indexers + others + relayed]]
    rng.shuffle(keys)
    base = Base(tuple(sorted(keys[:indexers])), {})
    past: dict[Id, frozenset[Id]] = {}
    knows: dict[bytes, frozenset[Id]] = {key: frozenset() for key in keys}
    for _ in range(steps if keys else 0):
        key, other = rng.choice(keys), rng.choice(keys)
        heard = sorted(i for i in knows[other] if base.nodes[i].batch == 1)
        if heard:
            knows[key] |= past[rng.choice(heard)] if rng.random() < 0.3 else knows[other]
        if rng.random() < 0.3:
            continue
        for left in range(rng.randint(2, 3) if rng.random() < batches else 1, 0, -1):
            heads = [i for i in sorted(knows[key]) if not any(i in past[j] for j in knows[key] if j != i)]
            i = Id(key, sum(j.writer == key for j in knows[key]) + 1)
            base.nodes[i] = Node(i, tuple(heads), left, key in keys[indexers + others :])
            past[i] = knows[key] | {i}
            knows[key] = past[i]
    return base


def settled_by_both(bases: list[Base]) -> list[tuple[list[Id], list[Id]]]:
    """Return the nodes that each rule settles."""
    found = zip(answers(bases, "autobase"), answers(bases, "design"), strict=True)
    return [(a[:n], b[:m]) for (a, n), (b, m) in found]


def contradiction(base: Base, rule: str = "design") -> tuple[Id, list[Id], list[Id]] | None:
    """Find a node whose writer had settled another order than all nodes settle; return it with both orders."""
    ids = sorted(base.nodes)
    (order, confirmed), *found = answers([base, *(base.cut(sorted(base.past[i])) for i in ids)], rule)
    for i, (before, count) in zip(ids, found, strict=True):
        shared = min(count, confirmed)
        if before[:shared] != order[:shared]:
            return i, before[:count], order[:confirmed]
    return None


def by_key(base: Base, settled: list[Id]) -> list[Id]:
    """Return the order of a base with the given settled length, the rest by key alone."""
    rest = base.nodes.keys() - set(settled)
    return settled + smallest_first(base, rest, {i for i in rest if not base.nodes[i].is_relayed})


def count(indexers: int, seed: int, histories: int) -> Counter[str]:
    """Count contradictions by the document's rule, and views and pairs of nodes with another order than at the end."""
    rng = random.Random(f"histories {seed} {indexers}")
    found: Counter[str] = Counter()
    for _ in range(histories):
        base = simulate(rng, indexers, steps=STEPS)
        views = [base, *(base.cut(sorted(base.past[i])) for i in sorted(base.nodes))]
        (last, confirmed), *orders = answers(views, "design")
        place = {i: at for at, i in enumerate(last[:confirmed])}
        is_contradicted = False
        for view, (order, count) in zip(views[1:], orders, strict=True):
            shared = min(count, confirmed)
            is_contradicted |= order[:shared] != last[:shared]
            keyed = by_key(view, order[:count])
            wrong = {}
            for how, ids in (("unseen", order), ("key", keyed)):
                places = [place[i] for i in ids[count:] if i in place]
                wrong[how] = sum(a > b for a, b in combinations(places, 2))
                found[f"pairs by {how}"] += wrong[how]
                found[f"views by {how}"] += wrong[how] > 0
            found["views"] += len(places) > 1
            found["pairs"] += len(places) * (len(places) - 1) // 2
            found["moved"] += order != keyed
            found["better"] += wrong["unseen"] < wrong["key"]
            found["worse"] += wrong["unseen"] > wrong["key"]
        found["contradictions"] += is_contradicted
    return found


def name(i: Id) -> str:
    """Return a node's writer and length."""
    return f"{i.writer.decode()}{i.length}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--histories", type=int, default=100)
    options = parser.parse_args()
    for number in (2, 3, 4, 5):
        print(f"{number} indexers:", dict(sorted(count(number, options.seed, options.histories).items())))
