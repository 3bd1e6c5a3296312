"""dbt's targets on a cluster: the packages that each needs, and the server that it uses."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.report import say
from tests.cluster.servers import HOST, Cluster, refuse_thrift

#: The modules that a target needs; `make servers` installs them.
NEEDS = {"cluster": [], "connect": ["grpc"], "thrift": ["pyhive", "grpc"]}


def available(targets: Sequence[str]) -> list[str]:
    """Return the targets that this environment can use; say for each other one the reason and the remedy."""
    found = []
    for target in targets:
        if lacking := [name for name in NEEDS[target] if importlib.util.find_spec(name) is None]:
            say(f"{target}: left out, as {' and '.join(lacking)} are not installed: make servers")
        elif target == "thrift" and (said := refuse_thrift()):
            say(f"thrift: left out: {said}")
        else:
            found.append(target)
    return found


@contextmanager
def served(target: str, cluster: Cluster, warehouse: Path) -> Iterator[dict[str, str]]:
    """Run the server that a target needs, unless dbt is the driver (`cluster`); yields the environment of dbt."""
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
