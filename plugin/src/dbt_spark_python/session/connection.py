"""Opens the Spark session of a dbt command, once, when the first statement needs it."""

import atexit
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dbt.adapters.contracts.connection import Connection
from dbt.adapters.spark.connections import SparkConnectionManager, SparkConnectionMethod, SparkCredentials
from dbt.adapters.spark.session import SessionConnectionWrapper
from dbt.flags import get_flags
from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt_spark_python.engines import sail_server
from dbt_spark_python.fences.known_session import find_session
from dbt_spark_python.fences.socket_filter import HOST
from dbt_spark_python.python_model import ship_packages
from dbt_spark_python.session import environment, error_causes
from dbt_spark_python.session.handle import OpenSession
from dbt_spark_python.session.progress import is_connect, show_line
from dbt_spark_python.session.small_run_profile import JAVA_OPTIONS
from dbt_spark_python.table_store import damage
from dbt_spark_python.table_store.catalog import FolderCatalog
from dbt_spark_python.table_store.errors import WarehouseError
from dbt_spark_python.table_store.warehouse import Warehouse

#: In a profile's `server_side_parameters`: the warehouse folder. The key is removed before Spark sees it.
WAREHOUSE = "spark.dbt.warehouse"
#: The setting with the longest time, in seconds, that a run waits for another run of the same warehouse.
LOCK_WAIT = "spark.dbt.lock_wait"

# Local sessions listen on 127.0.0.1 only, and clients need a secret, which Spark generates.
_GUARDED = {"spark.authenticate": "true", "spark.driver.host": HOST, "spark.driver.bindAddress": HOST}

#: The dbt commands that lock the warehouse at once; others lock it when they first write.
WRITING = frozenset({"build", "clone", "retry", "run", "run-operation", "seed", "snapshot"})

# Spark reads the first of these in a path as patterns or separators. Sail refuses control characters, and both engines
# refuse bytes that are not UTF-8.
_NOT_IN_PATHS = re.compile(r"[\[\]{}*?\\,\x00-\x1f\x7f-\x9f\ud800-\udfff]")

# Other places than a disk, such as s3a://bucket/folder, begin with a scheme.
_URI = re.compile(r"[A-Za-z][\w+.-]*://")

_opening = threading.Lock()
_catalog: FolderCatalog | None = None  # a process has one Spark session, so at most one warehouse
_prepared: dict[str, Any] | None = None  # the parameters of the last command that was prepared


class SessionConnections(SparkConnectionManager):
    """dbt-spark's connections; opening one first prepares the environment and the warehouse."""

    TYPE = "sparkpython"

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection; dbt shows the errors of `prepare` and stops."""
        credentials = connection.credentials
        if credentials.method != SparkConnectionMethod.SESSION:
            return super().open(connection)
        prepare(credentials.server_side_parameters)
        connection = super().open(connection)
        connection.handle = SessionConnectionWrapper(OpenSession(python_session(credentials)))
        return connection

    def cancel_open(self) -> list[str]:
        """Cancel the statements of all connections.

        dbt cancels when the user interrupts it, and that ends an embedded Sail server. dbt also cancels at the first
        failure with `--fail-fast`; the hooks at the end of the run then still need the server.
        """
        if isinstance(sys.exc_info()[1], KeyboardInterrupt):
            sail_server.refuse_requests()
        return super().cancel_open()

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Raise dbt-spark's errors, but explain known causes and damaged tables in one line."""
        try:
            with super().exception_handler(sql):
                yield
        except Exception as error:
            if said := explain(str(error)) or damaged_tables(str(error), sql):
                raise DbtRuntimeError(said) from None
            raise


def explain(message: str) -> str | None:
    """Explain an error message about a full disk, or another one with a known cause."""
    if "No space left on device" not in message:
        return error_causes.explain(message)
    place = f"at {_catalog.warehouse.root}" if _catalog else "where Spark writes"
    return f"no space is left {place}: free some and run again; all published tables are intact"


def damaged_tables(message: str, code: str) -> str | None:
    """Name the damaged tables that caused an error; see `damage.explain`."""
    return damage.explain(_catalog.warehouse, message, code) if _catalog else None


def prepare(parameters: dict[str, Any]) -> None:
    """Prepare the environment, the warehouse and the session for a dbt command, once.

    In the parameters, the profile's `server_side_parameters`, this adapter's own keys are replaced by Spark's.

    Raises:
        RuntimeError: Java is missing, or the process has a Spark session of another kind.
        WarehouseError: The warehouse cannot be used.
    """
    global _catalog, _prepared
    with _opening:
        if parameters is _prepared:
            return
        is_sail = parameters.pop(sail_server.ENGINE, None) == "sail"
        root, wait_s = parameters.pop(WAREHOUSE, None), read_lock_wait(parameters)
        needs_java = not is_sail and find_session() is None
        options = [parameters.get(JAVA_OPTIONS), "" if root else environment.catalog_option(parameters)]
        environment.prepare(java_options=" ".join(filter(None, options)), needs_java=needs_java)
        if needs_java:
            guard_ports(parameters)
        ship_packages.send_packed(parameters)
        if root is None or ("SPARK_REMOTE" in os.environ and not is_sail):  # the server has its own warehouse
            open_session(parameters)
        else:
            warehouse = _catalog.warehouse if _catalog else open_warehouse(root)
            if warehouse.root != Path(root).absolute():
                raise RuntimeError(f"this process builds in {warehouse.root}; start another one to build in {root}")
            if get_flags().WHICH in WRITING:
                warehouse.begin_writing(wait_s, show_line)
            session = open_in_warehouse(parameters, warehouse, is_sail)
            _catalog = _catalog or FolderCatalog(session, warehouse)
            _catalog.refresh()
        _prepared = parameters


def guard_ports(parameters: dict[str, str]) -> None:
    """Restrict a local session's ports to 127.0.0.1 and clients with a secret, unless the profile sets them.

    The driver and its block manager deserialize Java objects from every client that they accept. On a cluster the
    secret has to be set up on all machines; see `docs/how-to/clusters.md`.
    """
    if ship_packages.is_local_master(parameters.get("spark.master", "")):
        for name, value in _GUARDED.items():
            parameters.setdefault(name, value)


def read_lock_wait(parameters: dict[str, str]) -> float:
    """Take the setting LOCK_WAIT out of a command's parameters; 0 if it is not set."""
    text = str(parameters.pop(LOCK_WAIT, 0))
    try:
        wait_s = float(text)
    except ValueError:
        wait_s = -1.0
    if not 0 <= wait_s < float("inf"):
        raise WarehouseError(f"{LOCK_WAIT} is {text!r}; set it to a number of seconds, 0 or more")
    return wait_s


def open_warehouse(root: str) -> Warehouse:
    """Open the warehouse at `root`; this process's own folder is removed when the process ends."""
    if _URI.match(root):
        raise WarehouseError(
            f"the warehouse cannot be {root!r}: a warehouse of folders is on a disk of this machine; "
            "use a local folder, or a target whose file_format is iceberg or delta"
        )
    if wrong := _NOT_IN_PATHS.search(str(Path(root).absolute())):
        raise WarehouseError(
            f"the warehouse cannot be {root!r}: engines misread {wrong.group()!r} in a path; use a folder without it"
        )
    warehouse = Warehouse(Path(root))
    atexit.register(warehouse.close)
    return warehouse


def open_session(parameters: Mapping[str, Any]) -> SparkSession:
    """Open Spark's session, or apply a profile's settings to the one that the process or a server has."""
    session = find_session()
    if session is None and "SPARK_REMOTE" not in os.environ:
        return SparkSession.builder.enableHiveSupport().config(map=parameters).getOrCreate()
    session = session or SparkSession.builder.getOrCreate()
    for name, value in parameters.items():
        with suppress(PySparkException):  # some settings are for new sessions alone
            session.conf.set(name, value)
    return session


def open_in_warehouse(parameters: dict[str, Any], warehouse: Warehouse, is_sail: bool) -> SparkSession:
    """Open the process's session over a warehouse of folders, and add the settings for the warehouse to a command's.

    Raises:
        RuntimeError: The process has a session of another engine, or with another warehouse.
        SailError: Sail cannot be used.
    """
    session = find_session()
    if is_sail and _catalog is None:
        if session is not None and not is_connect(session):
            raise RuntimeError("this process has a Spark session: start another process for Sail")
        session = sail_server.connect(parameters, str(warehouse.scratch))
    parameters |= {
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(warehouse.tables),
        "spark.local.dir": str(warehouse.scratch),
    }
    if is_sail:
        return session
    session = open_session(parameters)
    place = session.conf.get("spark.sql.warehouse.dir")
    if Path(place.removeprefix("file:")) != warehouse.tables:
        raise RuntimeError(
            f"this process has a Spark session with its tables in {place}: "
            f"stop it first, or leave {WAREHOUSE} out of the profile to build there"
        )
    return session


def catalog_of(credentials: SparkCredentials) -> FolderCatalog | None:
    """Return the catalog over the warehouse of these credentials, if they have one and it is open."""
    place = (credentials.server_side_parameters or {}).get("spark.sql.warehouse.dir")
    return _catalog if _catalog and str(_catalog.warehouse.tables) == place else None


def python_session(credentials: SparkCredentials) -> SparkSession:
    """Return the session for Python models: the warehouse's, the process's, or a new one."""
    if _catalog:
        return _catalog.spark
    if not has_session(credentials):
        raise DbtRuntimeError(
            f"SQL models go to a server (method: {credentials.method}); Python models need Spark Connect beside it: "
            "set SPARK_REMOTE to its address, as sc://host:15002, or leave the Python models out"
        )
    return find_session() or open_session(credentials.server_side_parameters or {})


def has_session(credentials: SparkCredentials) -> bool:
    """Whether Python models have a session to run on."""
    is_session = credentials.method == SparkConnectionMethod.SESSION
    return is_session or "SPARK_REMOTE" in os.environ or find_session() is not None


def release_warehouse() -> None:
    """Release the warehouse at the end of a dbt command."""
    if _catalog:
        _catalog.warehouse.end_writing()
