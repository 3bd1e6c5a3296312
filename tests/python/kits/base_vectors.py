"""Reads recorded answers of Autobase."""

from collections.abc import Iterator
from typing import NamedTuple

from autobase_oracle import Base, Id, Node
from log_files import read_cases


class Replica(NamedTuple):
    """A replica of a case: its nodes as rows and as a base, and the peer's order and its settled length."""

    name: str
    rows: list[dict]
    indexers: list[str]
    start: dict[str, int] | None
    base: Base
    order: list[Id]
    confirmed: int


def replicas(name: str) -> Iterator[Replica]:
    """Yield each replica of each case of a file."""
    for case in read_cases(f"autobase/{name}.jsonl.gz"):
        for replica in case["replicas"]:
            yield _replica(case, replica)


def _replica(case: dict, replica: dict) -> Replica:
    rows = replica.get("nodes", case.get("nodes", []))
    if "known" in replica:
        rows = [row for row in rows if row["length"] <= replica["known"].get(row["writer"], 0)]
    indexers, start = replica.get("indexers", case["indexers"]), replica.get("base")
    ids = {row["id"]: Id(bytes.fromhex(row["writer"]), row["length"]) for row in rows}
    nodes, floor = {}, {}
    for row in rows:
        i = ids[row["id"]]
        nodes[i] = Node(i, tuple(Id(bytes.fromhex(key), length) for key, length in row["heads"]), row["batch"])
        # The nodes before a writer's first listed node count as settled.
        floor[i.writer] = min(i.length - 1, floor.get(i.writer, i.length))
    floor |= {bytes.fromhex(key): length for key, length in (start or {}).items()}
    base = Base(tuple(map(bytes.fromhex, indexers)), nodes, floor)
    order = [ids[each] for each in replica["order"]]
    return Replica(f"{case['id']}/{replica['name']}", rows, indexers, start, base, order, replica["confirmed"])
