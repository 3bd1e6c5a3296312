"""Builds of Autobase logs, compared with the answers of real peers and with the oracle."""

import gzip
import json
import random

import pytest

import autobase_oracle as oracle
from autobase_oracle import Base, Id, Node
from base_builds import MAX, ONLY, Built, random_bases, to_line
from base_tables import node_id
from conftest import DATA
from log_files import write


def read_replicas(name):
    """Yield each replica of each case of a file: base id, lines, base of the oracle, the peer's answer, and nodes."""
    with gzip.open(DATA / "autobase" / f"{name}.jsonl.gz") as lines:
        cases = [json.loads(line) for line in lines]
    for case in cases:
        for replica in case["replicas"]:
            base_id = f"{case['id']}/{replica['name']}"
            rows = replica.get("nodes", case.get("nodes"))
            if "known" in replica:
                rows = [row for row in rows if row["length"] <= replica["known"].get(row["writer"], 0)]
            indexers = replica.get("indexers", case["indexers"])
            start = replica.get("base")
            by_name = {row["id"]: Id(bytes.fromhex(row["writer"]), row["length"]) for row in rows}
            nodes, floor = {}, {}
            for row in rows:
                i = by_name[row["id"]]
                nodes[i] = Node(i, tuple(Id(bytes.fromhex(key), length) for key, length in row["heads"]), row["batch"])
                # The nodes before a writer's first listed node count as settled.
                floor[i.writer] = min(i.length - 1, floor.get(i.writer, MAX))
            floor |= {bytes.fromhex(key): length for key, length in (start or {}).items()}
            answer = [node_id(by_name[name]) for name in replica["order"]], replica["confirmed"]
            lines = [
                to_line({"base": base_id}, indexers=indexers, **({} if start is None else {"start": start})),
                # The same statement with the indexers in another order does not conflict.
                to_line(
                    {"base": base_id}, indexers=random.Random(base_id).sample(indexers, len(indexers)), start=start
                ),
                *(
                    to_line({"base": base_id}, **{n: row[n] for n in ("writer", "length", "heads", "batch", "value")})
                    for row in rows
                ),
            ]
            yield base_id, lines, Base(tuple(map(bytes.fromhex, indexers)), nodes, floor), answer, rows


FILES = ("design", "random", "hard", "large", "full")
REPLICAS = {name: list(read_replicas(name)) for name in FILES}
COUNTS = {"design": 12, "random": 436, "hard": 180, "large": 16, "full": 47}
# Some bases of each file that are small enough for the oracle.
FOR_ORACLE = [
    replica
    for name, step in (("design", 1), ("random", 29), ("hard", 20), ("full", 5))
    for replica in REPLICAS[name][::step]
]

RANDOM, RANDOM_LINES = random_bases(range(80))


@pytest.fixture(scope="module")
def peers(project, tmp_path_factory):
    """Build each replica as a separate base, and random bases, from shuffled lines."""
    lines = [line for name in FILES for _, lines, *_ in REPLICAS[name] for line in lines] + RANDOM_LINES
    random.Random(1).shuffle(lines)
    log = write(tmp_path_factory.mktemp("bases") / "log.jsonl", lines)
    built = project("bases_of_peers", autobase_log=log)
    built.run(*ONLY)
    return Built(built)


@pytest.mark.parametrize("name", FILES)
def test_replicas_agree_with_autobase(name, peers):
    """The order and the confirmed length of every replica equal those of Autobase."""
    agreed = 0
    for base_id, _, base, answer, rows in REPLICAS[name]:
        assert peers.answer(base_id) == answer, base_id
        row = peers.bases[base_id]
        assert row["confirmed_length"] == answer[1]
        assert (row["node_count"], row["lag"]) == (len(base.nodes), len(base.nodes) - answer[1])
        assert row["status"] == ("ok" if base.nodes else "empty")
        values = {f"{row['writer']}:{row['length']}": row["value"] for row in rows}
        for row in peers.views.get(base_id, {}).get("all", []):
            value = values[row["node_id"]]
            assert row["is_ack"] == (value is None)
            assert (row["value"] and json.loads(row["value"])) == value
        agreed += 1
    assert agreed == COUNTS[name]


def test_lines_of_real_peers_are_accepted(peers):
    """Every line of real peers and of random bases is accepted, also repeated statements in another order."""
    assert peers.project.rows("autobase_rejects") == []
    assert len(peers.bases) == sum(COUNTS.values()) + len(RANDOM)


@pytest.mark.parametrize("at", range(len(FOR_ORACLE)), ids=lambda at: FOR_ORACLE[at][0])
def test_observers_of_real_peers(at, peers):
    """Each writer's view equals the oracle's order of the nodes it sees; clocks, votes and quorums equal a count."""
    base_id, _, base, *_ = FOR_ORACLE[at]
    peers.check(base_id, base)


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
