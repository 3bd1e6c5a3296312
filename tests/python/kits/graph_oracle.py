"""A slow, independent version of the graph kernels with plain dictionaries."""

import math

import pyarrow as pa

from dbt_tangles.algorithms.graph.ancestors import ancestor_pairs
from dbt_tangles.algorithms.graph.clocks import author_clocks
from dbt_tangles.algorithms.graph.walk import Candidate, Place, walk

DEFAULTS = dict.fromkeys(Candidate._fields[:-1]) | {"graph_kind": "t", "graph_id": "A", "is_root": False}


def table_of(rows: list[dict]) -> pa.Table:
    return pa.Table.from_pylist([DEFAULTS | row for row in rows], walk.reads)


def thread(links: dict[str, list[str] | None], **columns: dict) -> list[dict]:
    """Make the rows of one tangle from id -> previous, null for the root. Further columns are id -> value."""
    root = next((id_ for id_, previous in links.items() if previous is None), "nobody")
    return [
        {
            "graph_id": root,
            "node_id": id_,
            "previous": previous,
            "is_root": previous is None,
            **{name: values.get(id_) for name, values in columns.items()},
        }
        for id_, previous in links.items()
    ]


def answers_of(rows: list[dict], missing_previous_excludes: bool = True) -> dict[str, dict]:
    """Walk the rows of one tangle: the answer of each node."""
    result = walked(table_of(rows), missing_previous_excludes)
    return {row["node_id"]: out for row, out in zip(rows, result, strict=True)}


def walked(table: pa.Table | list[pa.RecordBatch], *arguments, **options) -> list[dict]:
    """Call the kernel: the columns of `Place`, with sorted messages that a member leaves out."""
    rows = [row for batch in walk(table, *arguments, **options) for row in batch.select(Place._fields).to_pylist()]
    return [row | {"own_left_out": row["own_left_out"] and sorted(row["own_left_out"])} for row in rows]


def order(answers: dict[str, dict], column: str) -> list[str]:
    """List the members in the order of one of their positions."""
    members = {id_: out[column] for id_, out in answers.items() if out[column] is not None}
    assert sorted(members.values()) == list(range(len(members)))
    return sorted(members, key=members.get)


def naive_walk(rows: list[dict], strict: bool = True) -> list[dict]:
    """Compute the expected result of `walk_graphs`, for rows with all columns."""
    graphs: dict[tuple, list[int]] = {}
    for i, row in enumerate(rows):
        graphs.setdefault((row["graph_kind"], row["graph_id"]), []).append(i)
    answers: list[dict] = [{}] * len(rows)
    for members in graphs.values():
        for i, answer in zip(members, _naive_graph([rows[i] for i in members], strict), strict=True):
            answers[i] = answer
    return answers


def known_links(rows: list[dict]) -> dict[str, list[str]]:
    """Map each candidate to the distinct candidates it lists."""
    candidates = {row["node_id"]: row for row in rows if row["claim_error"] is None}
    return {
        id_: [] if row["is_root"] else [p for p in dict.fromkeys(row["previous"] or []) if p in candidates]
        for id_, row in candidates.items()
    }


def _naive_depths(candidates: dict, links: dict, strict: bool) -> dict[str, int]:
    def grounded(id_):
        if candidates[id_]["is_root"] or not strict:
            return True
        listed = candidates[id_]["previous"] or []
        return bool(listed) and all(p in candidates for p in listed)

    depth: dict[str, int] = {}
    growing = True
    while growing:
        growing = False
        for id_, previous in links.items():
            if id_ not in depth and grounded(id_) and all(p in depth for p in previous):
                depth[id_] = max((depth[p] + 1 for p in previous), default=0)
                growing = True
    return depth


def _naive_graph(rows: list[dict], strict: bool) -> list[dict]:
    candidates = {row["node_id"]: row for row in rows if row["claim_error"] is None}
    links = known_links(rows)

    depth = _naive_depths(candidates, links, strict)
    followed = {id_: longest_paths(id_, links) for id_ in depth}
    own = {id_: _earlier_own(id_, depth, candidates) for id_ in depth}
    children = {id_: sum(id_ in links[c] for c in depth) for id_ in depth}
    by_depth = sorted(depth, key=lambda id_: (depth[id_], id_.encode()))
    causal: list[str] = []
    while len(causal) < len(depth):
        ready = [id_ for id_ in depth if id_ not in causal and all(p in causal for p in links[id_])]
        causal.append(min(ready, key=lambda id_: (_earliest(candidates[id_]), id_.encode())))

    def reason(row):
        id_ = row["node_id"]
        if row["claim_error"] is not None:
            return row["claim_error"]
        if strict and not any(c["is_root"] for c in candidates.values()):
            return "missing_root"
        if strict and not row["previous"]:
            return "empty_previous"
        if strict and any(p not in candidates for p in row["previous"]):
            return "missing_previous"
        return "cycle" if id_ in reachable(id_, links) else "previous_set_aside"

    causes = _naive_causes(rows, depth)
    answers = []
    for row in rows:
        id_ = row["node_id"]
        if id_ in depth and row["claim_error"] is None:
            answers.append(
                {
                    "depth": depth[id_],
                    "set_aside_reason": None,
                    "position": by_depth.index(id_),
                    "thread_position": causal.index(id_),
                    "child_count": children[id_],
                    "redundant_previous": [p for p in links[id_] if any(p in followed[q] for q in links[id_])],
                    "own_left_out": sorted(p for p in own[id_] if p not in followed[id_]),
                    "not_tips": [p for p in links[id_] if any(p in followed[latest] for latest in own[id_][-1:])],
                    "concurrent_count": sum(
                        other not in followed[id_] and id_ not in followed[other] for other in depth if other != id_
                    ),
                    "blocked_by": None,
                    "missing_previous": None,
                }
            )
        else:
            answers.append(dict.fromkeys(Place._fields) | {"set_aside_reason": reason(row)} | causes[id_])
    return answers


def _naive_causes(rows: list[dict], depth: dict) -> dict[str, dict]:
    """Walk up from each node that is set aside to missing, bad or cyclic nodes."""
    names = {row["node_id"] for row in rows}
    waits = {
        row["node_id"]: {p for p in row["previous"] or [] if p not in depth and p is not None}
        if row["claim_error"] is None
        else set()
        for row in rows
        if row["node_id"] not in depth
    }
    waits |= {p: set() for listed in list(waits.values()) for p in listed - names}
    ends = {name for name, listed in waits.items() if not listed or name in reachable(name, waits)}
    below_ends = {name: set() if name in ends else listed for name, listed in waits.items()}
    return {
        name: {
            "blocked_by": sorted(({name} | reachable(name, below_ends)) & ends, key=str.encode),
            "missing_previous": sorted(listed - names, key=str.encode),
        }
        for name, listed in waits.items()
    }


def _earlier_own(id_, depth: dict, candidates: dict) -> list:
    """List the author's earlier members, the latest one last."""
    writer = candidates[id_]
    if None in (writer["author"], writer["sequence"]):
        return []
    own = [c for c in depth if candidates[c]["author"] == writer["author"] and candidates[c]["sequence"] is not None]
    own = [c for c in own if candidates[c]["sequence"] < writer["sequence"]]
    return sorted(own, key=lambda c: (candidates[c]["sequence"], c.encode()))


def _earliest(row: dict) -> tuple[bool, float]:
    times = [row[name] for name in ("asserted_ms", "received_ms")]
    times = [t for t in times if t is not None and not math.isnan(t)]
    return not times, min(times, default=0.0)


def reachable(id_, links: dict) -> set:
    """Return the nodes that links reach from a node; the node itself only if a path leads back to it."""
    seen, stack = set(), list(links[id_])
    while stack:
        p = stack.pop()
        if p not in seen:
            seen.add(p)
            stack.extend(links[p])
    return seen


def longest_paths(id_: str, links: dict[str, list[str]]) -> dict[str, int]:
    """Map each ancestor of a member to the longest path to it; paths grow by one edge per round."""
    longest: dict[str, int] = {}
    front, steps = set(links[id_]), 1
    while front:
        longest.update(dict.fromkeys(front, steps))
        front = {p for q in front for p in links[q]}
        steps += 1
    return longest


def members_of(rows: list[dict], answers: list[dict]) -> pa.Table:
    """Make the input of the kernels on members."""
    members = [row | {"depth": at["depth"]} for row, at in zip(rows, answers, strict=True) if at["depth"] is not None]
    return pa.Table.from_pylist(members, author_clocks.reads)


def naive_pairs(rows: list[dict], answers: list[dict], limit: int) -> set[tuple]:
    pairs = set()
    for graph, links in _member_links(rows, answers).items():
        if len(links) <= limit:
            pairs |= {(*graph, id_, a, d) for id_ in links for a, d in longest_paths(id_, links).items()}
    return pairs


def naive_clocks(rows: list[dict], answers: list[dict], limit: int, max_rows: int) -> set[tuple]:
    clocks = set()
    for graph, links in _member_links(rows, answers).items():
        wrote = {
            row["node_id"]: (row["author"], row["sequence"])
            for row in rows
            if (row["graph_kind"], row["graph_id"]) == graph and row["node_id"] in links
        }
        counted = {id_: by for id_, by in wrote.items() if None not in by}
        authors = {author for author, _ in counted.values()}
        if len(links) <= limit or len(links) * len(authors) > max_rows:
            continue
        for id_ in links:
            clock: dict[str, int] = {}
            for author, sequence in (counted[a] for a in longest_paths(id_, links) if a in counted):
                clock[author] = max(clock.get(author, sequence), sequence)
            clocks |= {(*graph, id_, author, sequence) for author, sequence in clock.items()}
    return clocks


def _member_links(rows: list[dict], answers: list[dict]) -> dict[tuple, dict[str, list[str]]]:
    graphs: dict[tuple, list[dict]] = {}
    for row, answer in zip(rows, answers, strict=True):
        members = graphs.setdefault((row["graph_kind"], row["graph_id"]), [])
        if answer["depth"] is not None:
            members.append(row | {"is_root": answer["depth"] == 0, "claim_error": None})
    return {graph: known_links(members) for graph, members in graphs.items()}


def listed(batches) -> list[tuple]:
    """Collect the rows of batches."""
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def pairs_of(rows: list[dict]) -> set[tuple]:
    """List (message, ancestor, distance) of the members of one tangle with the kernels."""
    return {row[2:] for row in listed(ancestor_pairs(members_of(rows, list(answers_of(rows).values()))))}
