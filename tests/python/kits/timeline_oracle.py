"""Timelines in plain Python, without regard for speed: the expected results of the kernels.

An arrival is a pair (name, causes). All algorithms differ from the kernels': ranks by fixpoint, minimality by the
textbook's longest common subsequence, cycles by search.
"""

import itertools

Arrival = tuple[str, list[str]]


def closes_cycle(known: dict[str, set[str]], name: str, causes: set[str]) -> bool:
    """Return whether a new event would close a cycle: an event that it lists already follows it."""
    return any(name in leads_to(known, cause) for cause in causes)


def conflicts(contents: list[tuple]) -> list[str | None]:
    """Return `conflict` for each content (name, causes, ...) that another one of the same name contradicts."""
    said: dict[str, set[tuple]] = {}
    for name, causes, *others in contents:
        said.setdefault(name, set()).add((frozenset(causes), *others))
    return ["conflict" if len(said[name]) > 1 else None for name, *_ in contents]


def admit(
    arrivals: list[Arrival], refused: list[str | None] | None = None
) -> tuple[dict[str, set[str]], list[str | None]]:
    """Return the causes of each admitted event without itself, and for each arrival the reason of its refusal, or None.

    `refused` has the reasons of arrivals that were refused beforehand. A refused arrival leaves no trace: its name may
    arrive again.
    """
    known: dict[str, set[str]] = {}
    verdicts: list[str | None] = []
    for (name, listed), reason in zip(arrivals, refused or [None] * len(arrivals), strict=True):
        causes = set(listed) - {name}
        if reason is not None:
            verdicts.append(reason)
        elif name in known:
            verdicts.append("duplicate")
        elif closes_cycle(known, name, causes):
            verdicts.append("cycle")
        else:
            known[name] = causes
            verdicts.append(None)
    return known, verdicts


def ranks(known: dict[str, set[str]]) -> dict[str, int]:
    """Compute the longest path over known causes, in links, of each event."""
    rank = dict.fromkeys(known, 0)
    changed = True
    while changed:
        changed = False
        for name, causes in known.items():
            wanted = 1 + max((rank[cause] for cause in causes if cause in known), default=-1)
            if wanted != rank[name]:
                rank[name], changed = wanted, True
    return rank


def latest_ranks(known: dict[str, set[str]]) -> dict[str, int]:
    """Compute the greatest rank that each event can have below all its effects, where the last rank stays the last."""
    rank = dict.fromkeys(known, max(ranks(known).values(), default=0))
    changed = True
    while changed:
        changed = False
        for name, causes in known.items():
            for cause in causes & known.keys():
                if rank[cause] >= rank[name]:
                    rank[cause], changed = rank[name] - 1, True
    return rank


def converged(known: dict[str, set[str]]) -> list[str]:
    """Sort the events by rank, then name by code point."""
    rank = ranks(known)
    return sorted(known, key=lambda name: (rank[name], name))


def tips(known: dict[str, set[str]]) -> list[str]:
    """List the events that are not listed by a known event."""
    listed = set().union(*known.values()) if known else set()
    return sorted(set(known) - listed)


def leads_to(links: dict[str, set[str]], name: str) -> set[str]:
    """List the ancestors of an event."""
    found: set[str] = set()
    frontier = set(links.get(name, ()))
    while frontier:
        found |= frontier
        frontier = set().union(*(links.get(cause, set()) for cause in frontier)) - found
    return found


def broken_ties(known: dict[str, set[str]]) -> list[str]:
    """List the events that do not follow the event before them in the converged order over any path of known events."""
    links = {name: causes & known.keys() for name, causes in known.items()}
    return [name for before, name in itertools.pairwise(converged(known)) if before not in leads_to(links, name)]


def places(known: dict[str, set[str]]) -> dict[str, dict]:
    """Return the columns of each event's place, in the converged order."""
    rank, latest, ends, ties = ranks(known), latest_ranks(known), {*tips(known)}, {*broken_ties(known)}
    return {
        name: {
            "rank": rank[name],
            "latest_rank": latest[name],
            "position": position,
            "is_tip": name in ends,
            "is_tie_broken": name in ties,
            "missing_causes": sorted(known[name] - known.keys()),
        }
        for position, name in enumerate(converged(known))
    }


def without_cycles(links: dict[str, set[str]], weak: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave out the weak links that are on a cycle, and then, if there still are cycles, all links on one."""
    for may_go in (weak, links):
        links = {
            name: {cause for cause in causes if cause not in may_go[name] or name not in leads_to(links, cause)}
            for name, causes in links.items()
        }
    return links


def log_links(messages: list[dict]) -> dict[str, dict[str, str]]:
    """Return the links of each usable message in the log's timeline, with their kinds."""
    links = {}
    for row in messages:
        own = row["message_id"]
        claims = [claim for claim in row["tangle_claims"] if claim["defect"] is None]
        listed = {cause for claim in claims for cause in [claim["root_id"], *(claim["previous"] or [])]} - {own, None}
        links[own] = _kinds(listed, {row["previous_id"]} - {own, None})
    return links


def tangle_links(members: list[dict], listed: dict[str, set[str]], widest: int) -> dict[str, dict[str, str]]:
    """Return the links of each member of a tangle in its timeline, with their kinds.

    `listed` has the previous of the members; of a wider fork of a feed, `widest` messages count, by id.
    """
    links = {}
    for row in members:
        earlier = [
            other for other in members if other["author"] == row["author"] and other["sequence"] < row["sequence"]
        ]
        latest = max((other["sequence"] for other in earlier), default=None)
        fork = sorted(other["message_id"] for other in earlier if other["sequence"] == latest)
        links[row["message_id"]] = _kinds(listed.get(row["message_id"], set()), set(fork[:widest]))
    return links


def _kinds(listed: set[str], feed: set[str]) -> dict[str, str]:
    return {
        cause: "both" if cause in listed & feed else "tangle" if cause in listed else "feed" for cause in listed | feed
    }


def common(old: list[str], new: list[str]) -> int:
    """Measure the longest common subsequence of two orders."""
    lengths = [0] * (len(new) + 1)
    for left in old:
        before = 0
        for place, right in enumerate(new, 1):
            here = lengths[place]
            lengths[place] = before + 1 if left == right else max(lengths[place], lengths[place - 1])
            before = here
    return lengths[-1]


def fewest_commands(old: list[str], new: list[str]) -> int:
    """Count the commands of the shortest script: an `ins` for each new event, a `mov` for each event that must move."""
    return len(new) - common(old, new)


def replay(order: list[str], commands: list[tuple[str, str, int | None, int]]) -> list[str]:
    """Apply commands (op, name, from, to) to an order, checking each; return the new order."""
    order = list(order)
    for op, name, taken, put in commands:
        if op == "mov":
            assert taken is not None and order[taken] == name, (op, name, taken, put)
            del order[taken]
        else:
            assert op == "ins" and taken is None and name not in order, (op, name, taken, put)
        assert 0 <= put <= len(order), (op, name, taken, put)
        order.insert(put, name)
    return order


def interleaved_chains(length: int) -> list[Arrival]:
    """Make a log of three times that many events with scripts of about the square of that many commands.

    Two chains interleave by rank. As many events again precede the second chain. They arrive last and from the newest
    to the oldest, so that each raises the whole second chain by one rank.
    """
    first, second, late = ([f"{letter}{number:06}" for number in range(length)] for letter in "abp")
    chains = [*zip(first, [[], *([name] for name in first)], strict=False)]
    chains += zip(second, [[late[-1]], *([name] for name in second)], strict=False)
    return chains + [*zip(late, [[], *([name] for name in late)], strict=False)][::-1]
