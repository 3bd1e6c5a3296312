"""Starts Sail, LakeSail's server for PySpark's Spark Connect client, and opens sessions on it; it runs without a JVM.

A profile turns it on in its `server_side_parameters`:

    spark.dbt.engine: sail
    sail.runtime.memory_pool.greedy.max_size: "8000000000"  # and any setting of Sail's behind `sail.`

The server is embedded: it is part of this process and ends with it. Python functions run in this process too. Sail has
no authentication, so the server's port accepts connections of this process only (`local_socket`, `relay`, `fences`). If
the system cannot enforce that, the server does not start, unless the profile accepts an open port. With SPARK_REMOTE
set, the server there is used instead; it has to see the warehouse and the input files at the same paths, and needs a
folder for checkpoints (`execution.checkpoint.path`) and the packages that Python functions import.
"""

import atexit
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from dbt_spark_python.engines.local_socket import GuardedSocket, GuardError
from dbt_spark_python.engines.relay import Relay
from dbt_spark_python.fences.replaced_listener import UNREACHABLE, check_unreachable, replace_listener
from dbt_spark_python.fences.socket_filter import HOST
from dbt_spark_python.fences.stopped_functions import stop_functions
from dbt_spark_python.fences.unix_channel import open_session

#: In a profile's `server_side_parameters`: the engine of an embedded session; Spark by default.
ENGINE = "spark.dbt.engine"
#: In the same place: "true" starts the server even if other users of the machine can connect to its port.
OPEN_PORT = "spark.dbt.sail.open_port"
#: The prefix of Sail's own settings there.
PREFIX = "sail."

#: The version of Sail that this module supports, and the first version of pyspark that it refuses.
VERSIONS, PYSPARK = "0.7", (4, 3)
#: The share of the memory that queries may use before they spill to disk or fail. The rest is for memory that Sail does
#: not count, and for Python.
_SHARE = 0.6
_REMEDY = "pip install 'dbt-spark-python[sail]'"
_PATIENCE = 10.0  # seconds
#: The file in which Linux states a container's memory limit: "max", or bytes.
_CONTAINER = Path("/sys/fs/cgroup/memory.max")

# Defaults for Sail's settings; the environment and the profile override them.
_SETTINGS = {
    # The files of a table change when it is replaced, and REFRESH TABLE is not supported (until 0.7.2 at least).
    "sail.execution.file_listing_cache.type": "none",
    "sail.parquet.file_statistics_cache.type": "none",
    # Spark's string type; readers of the files expect it too.
    "sail.parquet.schema_force_view_types": "false",
    # A session that is idle for a quarter of an hour is closed, and a running write counts as idle (until 0.7.2 at
    # least). The value is one year: the server ends with its process.
    "sail.spark.session_timeout_secs": "31536000",
}

_relays: list[Relay] = []  # the ways to embedded servers of this process


class SailError(RuntimeError):
    """Sail cannot be used; the message says why and names the remedy."""


def connect(settings: dict[str, str], scratch: str) -> SparkSession:
    """Open this process's session, on the server of SPARK_REMOTE or on an embedded one that is started now.

    The settings are Sail's (prefix `sail.`) and the session's; the folder `scratch` is as in `start`.

    Raises:
        SailError: Sail is not installed, its version is unsupported, or it does not start.
    """
    check_installed()
    own = {key: value for key, value in settings.items() if key.startswith(PREFIX)}
    # Executions stay reattachable, although that doubles the cost of a small query: otherwise an error after the first
    # rows never reaches the client, and a partial result looks complete (until 0.7.2 at least).
    if remote := os.environ.get("SPARK_REMOTE"):
        session = SparkSession.builder.remote(remote).getOrCreate()
    else:
        session = open_session(start(own, scratch, settings.get(OPEN_PORT, "").lower() == "true"))
        # The server takes SIGINT too, and ends. Its handler calls Python's handler, but restarts the system call in
        # which the main thread waits, so Python would not notice Ctrl-C. And the client would repeat its requests to
        # the ended server for ten minutes.
        signal.siginterrupt(signal.SIGINT, True)
        session.client.set_retry_policies([])
    for key, value in settings.items():
        if not key.startswith(PREFIX) and key != OPEN_PORT:
            session.conf.set(key, value)
    return session


def check_installed() -> None:
    """Raise a SailError if Sail is not installed, or if its version is unsupported."""
    try:
        found = version("pysail")
    except PackageNotFoundError:
        raise SailError(f"the target needs pysail, which is not installed: {_REMEDY}") from None
    spark = pyspark.__version__
    if not found.startswith(f"{VERSIONS}.") or tuple(map(int, spark.split(".")[:2])) >= PYSPARK:
        raise SailError(
            f"Sail needs pysail {VERSIONS} and pyspark before {'.'.join(map(str, PYSPARK))}, and finds {found} and "
            f"{spark}: {_REMEDY}"
        )


def start(settings: dict[str, str], scratch: str, accepts_open_port: bool = False) -> str:
    """Start the embedded server with settings of Sail (prefix `sail.`), and return its gRPC address.

    The folder `scratch` is for data that does not fit into memory. With `accepts_open_port`, the server starts even if
    other users of this machine can then run code as this user.

    Raises:
        SailError: It does not start, or other users could connect to it.
    """
    settings = {
        **_SETTINGS,
        "sail.mode": "local",
        # Sail's default is unlimited, until the system kills this process or others. The pool `fair`, in which each
        # part of a query has its own share, spills shuffled rows early, and two tasks that spill at once may block the
        # query for ever (until DataFusion 54; apache/datafusion#24883).
        "sail.runtime.memory_pool.type": "greedy",
        "sail.runtime.memory_pool.greedy.max_size": str(int(_SHARE * machine_memory())),
        "sail.runtime.temporary_files.paths": json.dumps([scratch], ensure_ascii=False),
        "sail.execution.checkpoint.path": Path(scratch).as_uri(),
        **settings,
    }
    variables = {key.upper().replace(".", "__").replace("SAIL__", "SAIL_", 1): value for key, value in settings.items()}
    with _unless_set({**variables, "RUST_LOG": "error"}):
        try:
            return _start_guarded(os.environ["SAIL_MODE"])
        except GuardError as error:
            if accepts_open_port:
                return "{}:{}".format(*_serve(HOST))
            raise SailError(
                f"other users of this machine could connect to Sail and run code as you: {error}. Build with Spark, or "
                f'if you trust all of them, set {OPEN_PORT}: "true" in the profile\'s server_side_parameters'
            ) from error


def machine_memory() -> int:
    """Return the memory of this machine, or the limit of this container, in bytes."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(machine, int(_CONTAINER.read_text()))
    except (OSError, ValueError):
        return machine


def _start_guarded(mode: str) -> str:
    """Start a server that accepts connections of this process only, and return its gRPC address.

    Raises:
        GuardError: The system cannot enforce that, or Sail opens ports for its workers in this mode.
    """
    if mode != "local":
        raise GuardError(f"in the mode {mode!r} Sail opens ports for its workers, and every user can connect to them")
    guarded = GuardedSocket()
    check_unreachable()
    replace_listener(_serve(UNREACHABLE), guarded.listener)
    relay = Relay(guarded.connect)
    _relays.append(relay)
    atexit.register(relay.close)
    atexit.register(guarded.close)
    return relay.target


def refuse_requests() -> None:
    """Let every further request to an embedded server fail at once, when the user has interrupted the command."""
    for relay in _relays:
        relay.close()


def _serve(host: str) -> tuple[str, int]:
    """Start a server on a free port, and return its address; it ends with the process."""
    from pysail.spark import SparkConnectServer

    try:
        server = SparkConnectServer(host, 0)
        server.start(background=True)
    except Exception as error:
        raise SailError(
            f"Sail does not start on {host}: {error}. Let this process listen on that address, or build with Spark"
        ) from error
    atexit.register(server.stop)  # this also keeps the server, which ends once it is unreferenced
    atexit.register(stop_functions, _PATIENCE)  # called first: functions still run if a command was interrupted
    return server.listening_address


@contextmanager
def _unless_set(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables temporarily, except those that are set already.

    They are removed afterwards, because a child process would take them for the user's own.
    """
    mine = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(mine)
    try:
        yield
    finally:
        for name in mine:
            del os.environ[name]
