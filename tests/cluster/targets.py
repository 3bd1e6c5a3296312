"""dbt's targets on a cluster: the packages that each needs, and the server that it uses."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.report import say
from tests.cluster.servers import HOST, Cluster, refuse_thrift

#: The modules that a target needs, and the extra that installs them.
NEEDS = {"cluster": {}, "connect": {"grpc": "engines"}, "thrift": {"pyhive": "thrift", "grpc": "engines"}}


def available(targets: Sequence[str]) -> list[str]:
    """Return the targets that this environment can use; say for each other one the reason and the remedy."""
    found = []
    for target in targets:
        if extras := lacking(target):
            say(f"{target}: left out, as this environment cannot: make servers, or pip install {' '.join(extras)}")
        elif target == "thrift" and (said := refuse_thrift()):
            say(f"thrift: left out: {said}")
        else:
            found.append(target)
    return found


def lacking(target: str) -> list[str]:
    """Return the missing extras of a target, as pip takes them."""
    extras = {extra for module, extra in NEEDS[target].items() if importlib.util.find_spec(module) is None}
    return [f"'dbt-tangles[{extra}]'" for extra in sorted(extras)]


@contextmanager
def served(target: str, cluster: Cluster, warehouse: Path) -> Iterator[dict[str, str]]:
    """Run the server that a target needs; yields the environment of dbt.

    Args:
        target: `cluster` (dbt is the driver), `connect` (a Spark Connect server) or `thrift` (a Thrift server; Python
            models use Spark Connect in its JVM).
        cluster: The cluster that runs the tasks.
        warehouse: The folder of the tables.
    """
    if target == "cluster":
        yield cluster.environ(SPARK_MASTER=cluster.master, TANGLES_WAREHOUSE=str(warehouse))
        return
    if target == "connect":
        of_target = {"SPARK_REMOTE": cluster.start_connect(warehouse)}
    else:
        port, address = cluster.start_thrift(warehouse)
        of_target = {"SPARK_THRIFT_HOST": HOST, "SPARK_THRIFT_PORT": str(port), "SPARK_REMOTE": address}
    yield cluster.environ(**of_target)
    cluster.stop(target)
