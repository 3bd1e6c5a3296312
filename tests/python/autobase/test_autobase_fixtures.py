"""The committed fixtures state what the design document says and what real peers answered."""

from functools import partial

import fixture_seeds
from log_files import read_cases

expected = partial(fixture_seeds.expected, "autobase")

# The names of the document's examples in the vectors.
VECTORS = {
    "design-lin-1": "linear",
    "design-lin-2": "branch",
    "design-lin-2-keys-swapped": "branch_keys_swapped",
    "design-quorum-degrees": "quorum_chain",
    "design-double-quorum": "higher_quorums",
    "design-consistent-ordering-keys-swapped": "consistent_ordering_keys_swapped",
}


def order_of(statement, example, observer):
    """Return an observer's nodes in order, with their columns."""
    rows = expected(statement, example=example, observer=observer)
    assert [int(row["position"]) for row in rows] == list(range(len(rows)))
    return [(row["node"], row["is_confirmed"]) for row in rows]


def test_every_statement_of_the_document_is_expected():
    docs = {VECTORS[case["id"]]: case["doc"] for case in read_cases("autobase/design.jsonl.gz")}

    def design(example, observer="all"):
        return [node for node, _ in order_of("autobase_views_design", example, observer)]

    def quorums(example, **where):
        return {
            (r["node"], int(r["degree"])): (r["reached_by"], r["writers"].split())
            for r in expected("autobase_quorums", example=example, **where)
        }

    assert design("linear") == docs["linear"]["linearisation"]["*"]
    assert [design("branch"), design("branch_keys_swapped")] == docs["branch"]["linearisation_options"]
    for example in ("branch", "branch_keys_swapped"):
        assert design(example) == docs[example]["linearisation_by_key"]

    chain = quorums("quorum_chain", node="a0")
    assert {at: degree for (_, degree), (at, _) in chain.items()} == docs["quorum_chain"]["degree_over_a0_at"]
    for place, members in docs["quorum_chain"]["quorum_members"].items():
        at, degree = place.split(":")
        assert chain["a0", int(degree)] == (at, members)

    higher = quorums("higher_quorums")
    for degree, what in enumerate(["quorums", "double_quorums"], start=1):
        found = {node: members for (node, d), (_, members) in higher.items() if d == degree}
        assert found == docs["higher_quorums"][what]

    [[first, second]] = docs["consistent_ordering_keys_swapped"]["must_precede_when_confirmed"]
    for observer in ("all", "a", "b", "c"):
        assert design("consistent_ordering_keys_swapped", observer)[0] == first
        assert second not in design("consistent_ordering_keys_swapped", observer)


def test_peers_and_the_document_differ_only_in_these_examples():
    """Peers settle the nodes that the document states; they order the unsettled ones by key."""
    views = {(r["example"], r["observer"], r["position"]): r for r in expected("autobase_views")}
    rows = expected("autobase_views_design")
    parted = []
    for row in rows:
        peers = views[row["example"], row["observer"], row["position"]]
        if row["node"] != peers["node"]:
            parted.append((row["example"], row["observer"], row["node"], peers["node"], peers["is_confirmed"]))
        assert row["is_confirmed"] in ("", peers["is_confirmed"])
    assert parted == [("consistent_ordering_keys_swapped", "b", "a0", "b0", "false")]
    assert {row["is_confirmed"] for row in rows} == {"", "true", "false"}
