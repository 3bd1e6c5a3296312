"""Builds of Autobase logs, compared with the answers of real peers and with the oracle."""

import json
import random

import pytest

import autobase_oracle as oracle
from autobase_lines import to_line
from base_builds import ONLY, Built, random_bases
from base_tables import node_id
from base_vectors import replicas


def lines_of(replica):
    """Print the statement about the base twice, the indexers in two orders, which do not conflict; and its nodes."""
    base = {"base": replica.name} | ({} if replica.start is None else {"start": replica.start})
    other = random.Random(replica.name).sample(replica.indexers, len(replica.indexers))
    yield to_line(base, indexers=replica.indexers)
    yield to_line(base, indexers=other, start=replica.start)
    for row in replica.rows:
        yield to_line({"base": replica.name}, **{n: row[n] for n in ("writer", "length", "heads", "batch", "value")})


COUNTS = {"design": 12, "random": 436, "hard": 180, "large": 16, "full": 47}
REPLICAS = {name: list(replicas(name)) for name in COUNTS}
# Some bases of each file that are small enough for the oracle.
FOR_ORACLE = [
    replica
    for name, step in (("design", 1), ("random", 29), ("hard", 20), ("full", 5))
    for replica in REPLICAS[name][::step]
]

RANDOM, RANDOM_LINES = random_bases(range(80))


@pytest.fixture(scope="module")
def peers(project):
    """Build each replica as a separate base, and random bases, from shuffled lines."""
    lines = [line for each in REPLICAS.values() for replica in each for line in lines_of(replica)] + RANDOM_LINES
    random.Random(1).shuffle(lines)
    return Built(project("bases_of_peers").given(autobase_log=lines).run(*ONLY))


@pytest.mark.parametrize("name", COUNTS)
def test_replicas_agree_with_autobase(name, peers):
    for replica in REPLICAS[name]:
        base_id, confirmed = replica.name, replica.confirmed
        assert peers.answer(base_id) == ([node_id(i) for i in replica.order], confirmed), base_id
        row, nodes = peers.bases[base_id], replica.base.nodes
        assert row["confirmed_length"] == confirmed
        assert (row["node_count"], row["lag"]) == (len(nodes), len(nodes) - confirmed)
        assert row["status"] == ("ok" if nodes else "empty")
        values = {f"{row['writer']}:{row['length']}": row["value"] for row in replica.rows}
        for row in peers.views.get(base_id, {}).get("all", []):
            value = values[row["node_id"]]
            assert row["is_ack"] == (value is None)
            assert (row["value"] and json.loads(row["value"])) == value
    assert len(REPLICAS[name]) == COUNTS[name]


def test_lines_of_real_peers_are_accepted(peers):
    """Every line of real peers and of random bases is accepted, also repeated statements in another order."""
    assert peers.project.rows("autobase_rejects") == []
    assert len(peers.bases) == sum(COUNTS.values()) + len(RANDOM)


@pytest.mark.parametrize("at", range(len(FOR_ORACLE)), ids=lambda at: FOR_ORACLE[at].name)
def test_observers_of_real_peers(at, peers):
    """Each writer's view equals the oracle's order of the nodes it sees; clocks, votes and quorums equal a count."""
    peers.check(FOR_ORACLE[at].name, FOR_ORACLE[at].base)


def test_random_bases(peers):
    """Random bases with non-indexing writers, relayed nodes, batches and nodes settled before equal the oracle."""
    for base_id, base in RANDOM.items():
        peers.check(base_id, base)
        assert peers.bases[base_id]["status"] == ("ok" if base.nodes else "empty")
    bases = RANDOM.values()
    relayed = [base for base in bases if any(node.is_relayed for node in base.nodes.values())]
    hidden = [base for base in relayed if len(oracle.order_of(base)[0]) < len(base.nodes)]
    settled = [base for base in bases if any(base.floor.values()) and oracle.order_of(base)[1]]
    assert min(len(relayed), len(hidden), len(settled)) >= 5
    assert any(node.batch > 1 for base in bases for node in base.nodes.values())
    assert len({len(base.indexers) for base in bases}) >= 4
