"""The peer's algorithm for the items of a set, in `pzp_peer.js`, driven for comparison."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

PROGRAM = Path(__file__).with_suffix(".js")
WHAT = "the peer's algorithm as described, our own JavaScript"


class Run(NamedTuple):
    """The result of a run."""

    items: list[str]  # The items of the set, in their order
    cpu_s: float  # CPU seconds, without starting, reading and writing


def node() -> str | None:
    """Return the path of node, if it is installed."""
    return shutil.which("node")


def node_version() -> str:
    """Return the version of node."""
    return subprocess.run([_node(), "--version"], capture_output=True, text=True, check=True).stdout.strip()


def question(table: pa.Table) -> bytes:
    """Write one set in the form that the program reads.

    Args:
        table: Rows of `int_set_entries`, in order of arrival.
    """
    log = [
        {"id": row["message_id"], **{name: row[name] for name in ("depth", "prev", "add", "del")}}
        for row in table.select(["message_id", "depth", "prev", "add", "del"]).to_pylist()
    ]
    return json.dumps({"root": table["set_id"][0].as_py(), "log": log}).encode()


def run(asked: bytes) -> Run:
    """Reduce a set, in a process of its own, with English collation."""
    done = subprocess.run(
        [_node(), str(PROGRAM)],
        input=asked,
        capture_output=True,
        check=True,
        env={**os.environ, "LC_ALL": "en_US.UTF-8"},
    )
    answer = json.loads(done.stdout)
    return Run(answer["items"], answer["cpu_ms"] / 1000)


def _node() -> str:
    found = node()
    if found is None:
        raise FileNotFoundError("node is not on the PATH; install Node.js, or leave out this comparison")
    return found
