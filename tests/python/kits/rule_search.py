"""Compares the design document's rule with the rule in use: run as a script, it finds the smallest bases that differ.

Simulated writers write on top of all nodes that they know, and exchange some of them. If the two rules settle different
nodes, or the same nodes in another order, nodes are removed as long as the difference remains. For each number of
indexers and each kind of difference, the script prints the smallest bases, the alphabetically first ones first. It also
prints small bases on which the document's rule contradicts itself: the order that a writer had settled differs from the
order that all nodes settle.

With --histories it runs that many histories of `STEPS` steps each, and counts those with such a contradiction. It also
counts the views (the bases below single nodes) in which nodes that the whole base settles, and the view does not, have
another order than in the whole base. Each view is ordered twice: with nodes that may be settled unseen first, and by
key alone.
"""

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations

from autobase_oracle import Base, Id, Node, smallest_first
from base_arrays import arrays_of
from dbt_tangles.algorithms.autobase import consensus, design

Answer = tuple[list[Id], int]

RULES = {"autobase": consensus.order_views, "design": design.order_views}
SEED = 1
ROUNDS = 40
BASES_PER_ROUND = 500
CONTRADICTIONS_PER_ROUND = 20
SHOWN = 3
STEPS = 60


def simulate(
    rng: random.Random,
    indexers: int,
    others: int = 0,
    relayed: int = 0,
    steps: int = 12,
    batches: float = 0.0,
) -> Base:
    """Let writers write on top of the nodes they know, and learn all nodes of another writer or the past of one node.

    Args:
        rng: The source of randomness.
        indexers: How many indexing writers; their keys, like those of the others, are random letters.
        others: How many that do not index.
        relayed: How many relayed ones.
        steps: How often a writer learns nodes and then perhaps writes.
        batches: The probability that a writer writes several nodes at once.
    """
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


def answers(bases: list[Base], rule: str = "autobase") -> list[Answer]:
    """Order all bases in one call: the order of each, and the length of its settled part."""
    arrays, ids = arrays_of(bases)
    order, placed, confirmed = RULES[rule](arrays)
    begins = arrays[0]
    return [([ids[x] for x in order[begins[v] : begins[v] + placed[v]]], int(confirmed[v])) for v in range(len(bases))]


def settled_by_both(bases: list[Base]) -> list[tuple[list[Id], list[Id]]]:
    """Return the nodes that each rule settles."""
    found = zip(answers(bases, "autobase"), answers(bases, "design"), strict=True)
    return [(a[:n], b[:m]) for (a, n), (b, m) in found]


def kind(settled: list[Id], by_design: list[Id]) -> str | None:
    """Return the kind of difference between the rules, or None if they agree."""
    if settled == by_design:
        return None
    shared = min(len(settled), len(by_design))
    if settled[:shared] != by_design[:shared]:
        return "another order" if set(settled) == set(by_design) else "they contradict each other"
    return "Autobase settles more" if len(settled) > shared else "the document settles more"


def smaller(base: Base) -> Iterator[Base]:
    """Yield the base without one of its nodes, the last nodes first; for bases without batches."""
    for gone in sorted(base.nodes, key=lambda i: (-len(base.past[i]), i)):
        renamed = {i: Id(i.writer, i.length - (i.writer == gone.writer and i.length > gone.length)) for i in base.nodes}
        nodes = {}
        for i in base.nodes.keys() - {gone}:
            known = base.past[i] - {i, gone}
            heads = sorted(renamed[h] for h in known if not any(h in base.past[j] for j in known if j != h))
            nodes[renamed[i]] = Node(renamed[i], tuple(heads), is_relayed=base.nodes[i].is_relayed)
        yield Base(base.indexers, dict(sorted(nodes.items())))


def shrunk(base: Base, still: Callable[[Base], bool]) -> Base:
    """Remove nodes as long as the condition holds."""
    while True:
        for less in smaller(base):
            if still(less):
                base = less
                break
        else:
            return base


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


def words(base: Base) -> str:
    """Print a base: writer and length of each node, then a colon and its links except the writer's previous."""
    done: list[Id] = []
    while len(done) < len(base.nodes):
        done.append(min(i for i in base.nodes if i not in done and base.previous(i) <= set(done)))
    found = []
    for i in done:
        heads = [name(h) for h in base.nodes[i].heads if h.writer != i.writer]
        found.append(name(i) + (":" + ",".join(heads) if heads else ""))
    return " ".join(found)


def name(i: Id) -> str:
    """Return a node's writer and length."""
    return f"{i.writer.decode()}{i.length}"


def search(indexers: int, seed: int, rounds: int = ROUNDS) -> dict[str, list[Base]]:
    """Find the smallest bases of that many indexers on which the rules differ, by kind of difference."""
    rng = random.Random(f"{seed} {indexers}")
    found: dict[str, dict[str, Base]] = {}
    for _ in range(rounds):
        bases = [simulate(rng, indexers, steps=rng.randint(3, 9 + 3 * indexers)) for _ in range(BASES_PER_ROUND)]
        for base, both in zip(bases, settled_by_both(bases), strict=True):
            how = kind(*both)
            best = found.setdefault(how, {}) if how else {}
            # Large bases shrink to the same results as small ones, in more time.
            if how and len(base.nodes) <= 3 + min(map(lambda b: len(b.nodes), best.values()), default=99):
                base = shrunk(base, lambda less, how=how: kind(*settled_by_both([less])[0]) == how)
                best[words(base)] = base
    smallest = {}
    for how, best in sorted(found.items()):
        least = min(len(base.nodes) for base in best.values())
        smallest[how] = [best[w] for w in sorted(best) if len(best[w].nodes) == least]
    return smallest


def search_contradictions(indexers: int, seed: int, rounds: int = ROUNDS) -> list[Base]:
    """Find small bases whose writers contradict each other by the document's rule; the smallest first."""
    rng = random.Random(f"contradictions {seed} {indexers}")
    found: dict[str, Base] = {}
    least = 99
    for _ in range(rounds * CONTRADICTIONS_PER_ROUND):
        base = simulate(rng, indexers, steps=rng.randint(15, 60))
        # The nodes that its writer knew before are a smaller base.
        for i in sorted(base.nodes, key=lambda i: (len(base.past[i]), i)):
            cut = base.cut(sorted(base.past[i]))
            if len(cut.nodes) > least + 8 or contradiction(base) is None:
                break
            if contradiction(cut):
                base = shrunk(cut, lambda less: contradiction(less) is not None)
                found[words(base)] = base
                least = min(least, len(base.nodes))
                break
    return [found[w] for w in sorted(found, key=lambda w: (len(found[w].nodes), w))]


def main() -> None:
    """Print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--histories", type=int, help="count contradictions in this many histories instead")
    options = parser.parse_args()
    for indexers in (2, 3, 4, 5):
        if options.histories:
            print(f"{indexers} indexers:", dict(sorted(count(indexers, options.seed, options.histories).items())))
            continue
        for how, bases in search(indexers, options.seed, options.rounds).items():
            print(f"{indexers} indexers, {how}: {len(bases)} of {len(bases[0].nodes)} nodes")
            for base, both in zip(bases[:SHOWN], settled_by_both(bases[:SHOWN]), strict=True):
                settled, by_design = (" ".join(map(name, ids)) or "nothing" for ids in both)
                print(f"    {words(base)}\n        Autobase: {settled}; the document: {by_design}")
        for base in search_contradictions(indexers, options.seed, options.rounds)[:SHOWN]:
            at, before, whole = contradiction(base)
            print(f"{indexers} indexers, the document contradicts itself: {len(base.nodes)} nodes\n    {words(base)}")
            print(f"        at {name(at)}: {' '.join(map(name, before))}; at the end: {' '.join(map(name, whole))}")


if __name__ == "__main__":
    main()
