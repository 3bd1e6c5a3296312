"""Logs of Autobase through dbt, compared with answers of real peers and with plain computations."""

import gzip
import json
import random

import pytest

import autobase_oracle as oracle
from autobase_oracle import Base, Id, Node
from base_builds import MAX, ONLY, Built, node_id, random_bases, to_line
from conftest import DATA
from log_files import write


def read_replicas(name):
    """Each replica of each case of a file: its base's id, its nodes as lines and for the oracle, its answer."""
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
                # A replica that names its settled nodes has also settled those below any other writer's first.
                floor[i.writer] = min(i.length - 1, floor.get(i.writer, MAX))
            floor |= {bytes.fromhex(key): length for key, length in (start or {}).items()}
            answer = [node_id(by_name[name]) for name in replica["order"]], replica["confirmed"]
            lines = [
                to_line({"base": base_id}, indexers=indexers, **({} if start is None else {"start": start})),
                # The same in another order, which is not another thing to say.
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
# Bases that are small enough for the oracle, a few of each file.
FOR_ORACLE = [
    replica
    for name, step in (("design", 1), ("random", 29), ("hard", 20), ("full", 5))
    for replica in REPLICAS[name][::step]
]

RANDOM, RANDOM_LINES = random_bases(range(80))


@pytest.fixture(scope="module")
def peers(project, tmp_path_factory):
    """Build the nodes of every replica as a base of its own, and random bases, with shuffled lines."""
    lines = [line for name in FILES for _, lines, *_ in REPLICAS[name] for line in lines] + RANDOM_LINES
    random.Random(1).shuffle(lines)
    log = write(tmp_path_factory.mktemp("bases") / "log.jsonl", lines)
    built = project("bases_of_peers", autobase_log=log)
    built.run(*ONLY)
    return Built(built)


@pytest.mark.parametrize("name", FILES)
def test_every_replica_answers_as_autobase(name, peers):
    """The whole order, and how much of it is settled, of every replica."""
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


def test_nothing_of_real_peers_is_refused(peers):
    """Nor is a second line about a base that says the same in another order, or of random bases anything."""
    assert peers.project.rows("autobase_rejects") == []
    assert len(peers.bases) == sum(COUNTS.values()) + len(RANDOM)


@pytest.mark.parametrize("at", range(len(FOR_ORACLE)), ids=lambda at: FOR_ORACLE[at][0])
def test_observers_of_real_peers(at, peers):
    """Each writer's view is the oracle's for the writer's past; clocks, votes and quorums equal a plain count."""
    base_id, _, base, *_ = FOR_ORACLE[at]
    peers.check(base_id, base)


def test_random_bases(peers):
    """Bases with further writers, relayed nodes, batches and nodes settled before."""
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
