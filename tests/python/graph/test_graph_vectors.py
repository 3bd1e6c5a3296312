"""Results of other implementations.

@tangle/graph treats every node without previous as a root; here a tangle has one root, named by its id. For cases with
one such node both have the same task. For cases with several, the kernel first gets all of them as roots and must equal
the peer's whole result; then one root at a time, with the others as candidates with an empty list: the members are then
the nodes whose history, according to the peer, contains no other root.
"""

import json
import re

import pytest

from graph_oracle import DEFAULTS, answers_of, naive_walk, order, pairs_of
from set_cases import cases

MESSAGE_ID = re.compile(r'"(%[A-Za-z0-9+/]{43}=\.sha256)"')


TANGLE_GRAPH = cases("tangle_graph")
ANSWERED = [case for case in TANGLE_GRAPH if "graphError" not in case["expected"]["flags"]]
SSB_SORT = cases("ssb_sort")


def nodes_of(case: dict, roots: list[str]) -> list[dict]:
    nodes = {node["key"]: node["previous"] for node in case["candidates"]}
    return [
        DEFAULTS | {"graph_id": roots[0], "node_id": key, "previous": previous, "is_root": key in roots}
        for key, previous in nodes.items()
    ]


def check_graph(rows: list[dict], members: set[str], history: dict[str, list[str]]) -> dict[str, dict]:
    """Compare members and their histories with the peer's; return the answers."""
    answers = answers_of(rows)
    assert list(answers.values()) == naive_walk(rows)
    assert {key for key, out in answers.items() if out["depth"] is not None} == members
    found = {key: set() for key in members}
    for key, ancestor, distance in pairs_of(rows):
        found[key].add(ancestor)
        assert distance <= answers[key]["depth"]
    assert found == {key: set(history[key]) for key in members}
    return answers


def test_all_vectors_are_there():
    assert (len(TANGLE_GRAPH), len(ANSWERED), len(SSB_SORT)) == (150, 119, 150)


@pytest.mark.parametrize("case", ANSWERED, ids=lambda case: case["case"])
def test_tangle_graph(case):
    """Members, tips, branch and merge nodes, and histories, with the peer's own roots."""
    expected = case["expected"]
    rows = nodes_of(case, expected["roots"])
    members = set(expected["connected"])
    answers = check_graph(rows, members, expected["history"])
    previous = {row["node_id"]: set(row["previous"] or []) for row in rows}
    assert {key for key in members if answers[key]["child_count"] == 0} == set(expected["tips"])
    assert {key for key in members if answers[key]["child_count"] > 1} == set(expected["branch"])
    assert {key for key in members if len(previous[key]) > 1} == set(expected["merge"])
    assert {key for key in answers if key not in members} == set(expected["disconnectedPresent"])


@pytest.mark.parametrize(
    "case", [c for c in ANSWERED if len(c["expected"]["roots"]) > 1], ids=lambda case: case["case"]
)
def test_tangle_graph_one_root_at_a_time(case):
    """The tangle of one root, out of a case with several."""
    history = case["expected"]["history"]
    roots = set(case["expected"]["roots"])
    for root in roots:
        members = {key for key, before in history.items() if roots & {key, *before} == {root}}
        rows = nodes_of(case, [root])
        answers = check_graph(rows, members, history)
        assert all(answers[other]["set_aside_reason"] == "empty_previous" for other in roots - {root})


@pytest.mark.parametrize("case", SSB_SORT, ids=lambda case: case["case"])
def test_ssb_sort_by_every_reference(case):
    """The peer's notion of causality: any id anywhere in a message. Heads and roots are the peer's, too."""
    root = next(m["key"] for m in case["thread"] if "root" not in m["value"]["content"])
    rows = [
        DEFAULTS
        | {
            "graph_id": root,
            "node_id": message["key"],
            "previous": MESSAGE_ID.findall(json.dumps(message["value"])),
            "is_root": message["key"] == root,
            "asserted_ms": message["value"].get("timestamp"),
            "received_ms": message.get("timestamp"),
        }
        for message in case["thread"]
    ]
    answers = answers_of(rows, missing_previous_excludes=False)
    assert all(out["depth"] is not None for out in answers.values())
    assert list(answers.values()) == naive_walk(rows, strict=False)
    assert sorted(key for key, out in answers.items() if out["child_count"] == 0) == case["expected"]["heads"]
    assert {key for key, out in answers.items() if out["depth"] == 0} == set(case["expected"]["roots"])
    if case["expected"]["causalViolations"]:
        assert order(answers, "thread_position") != case["expected"]["order"]
