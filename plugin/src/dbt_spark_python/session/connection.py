"""Opens the Spark session of a dbt command, once, when the first statement needs it."""

import atexit
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dbt.adapters.contracts.connection import Connection
from dbt.adapters.spark.connections import SparkConnectionManager, SparkConnectionMethod, SparkCredentials
from dbt.flags import get_flags
from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt_spark_python.engines import local_socket, sail
from dbt_spark_python.python_model import ship_packages
from dbt_spark_python.session import environment, error_translation, small_run_profile
from dbt_spark_python.session.memory import short_memory
from dbt_spark_python.session.progress import is_connect
from dbt_spark_python.table_store import damage
from dbt_spark_python.table_store.catalog import FolderCatalog
from dbt_spark_python.table_store.warehouse import Warehouse, WarehouseError

#: In a profile's `server_side_parameters`: the folder that is the warehouse. Spark itself never sees it.
WAREHOUSE = "spark.dbt.warehouse"

# Of a session on this machine: its ports are for this machine, and for clients that know a secret, which Spark makes.
_GUARDED = {
    "spark.authenticate": "true",
    "spark.driver.host": local_socket.HOST,
    "spark.driver.bindAddress": local_socket.HOST,
}

#: The dbt commands that build tables; the others only look, or ask for the warehouse when they come to write.
WRITING = frozenset({"build", "clone", "retry", "run", "run-operation", "seed", "snapshot"})

# In a path Spark takes the first of these for a pattern or a separator. Sail refuses control characters, and both
# engines refuse bytes that are not UTF-8.
_NOT_IN_PATHS = re.compile(r"[\[\]{}*?\\,\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_opening = threading.Lock()
_parameters: dict | None = None  # of the last dbt command that was started
_small: small_run_profile.Small | None = None  # what is set for it besides, if it is small
_of_unit_tests: SparkSession | None = None  # a session of its own settings beside the process's
_set: set[str] = set()  # what was set for the one before
_catalog: FolderCatalog | None = None  # a process has one Spark session, so at most one warehouse


class SessionConnections(SparkConnectionManager):
    """dbt-spark's connections; the environment and the warehouse of an embedded session are made ready first."""

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection; see `SparkConnectionManager.open`.

        Raises:
            RuntimeError: There is no JVM, or the warehouse cannot be used; dbt shows the message and stops.
        """
        is_session = connection.credentials.method == SparkConnectionMethod.SESSION
        if is_session:
            prepare(connection.credentials)
        connection = super().open(connection)
        if is_session and _catalog and sail.is_sail(_catalog.spark):
            connection.handle = sail.handle(_catalog.spark)
        elif is_session and (session := of_process()) is not None and is_connect(session):
            # Who opened it may have said its address nowhere else, so that dbt-spark would not find it.
            configure(session, connection.credentials.server_side_parameters)
            connection.handle = sail.handle(session) if sail.is_sail(session) else error_translation.handle(session)
        elif is_session:
            connection.handle = error_translation.SessionHandle(connection.handle.handle)
        return connection

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Raise what dbt-spark does, but in a line where the disk is full, memory is short, or a table is damaged."""
        try:
            with super().exception_handler(sql):
                yield
        except Exception as error:
            if said := full_disk(str(error)) or short_memory(str(error)) or damaged_tables(str(error), sql):
                raise DbtRuntimeError(said) from None
            raise


def full_disk(message: str) -> str | None:
    """Say where the disk is full, or None if that is not what an error's message is about."""
    if "No space left on device" not in message:
        return None
    place = f"at {_catalog.warehouse.root}" if _catalog else "where Spark writes"
    return f"no space is left {place}: free some and run again; nothing that was there is lost"


def damaged_tables(message: str, code: str) -> str | None:
    """Say which damaged tables an error comes from; see `damage.explain`."""
    return damage.explain(_catalog.warehouse, message, code) if _catalog else None


def choose(credentials: SparkCredentials, variables: Mapping[str, Any]) -> None:
    """Find out what is set besides if the command about to run is small; a second call for it does nothing."""
    global _parameters, _small
    if credentials.server_side_parameters is not _parameters:
        _parameters = credentials.server_side_parameters
        _small = small_run_profile.take(_parameters, variables) if _parameters else None


def small_of(parameters: dict[str, str]) -> small_run_profile.Small:
    """What is set besides for a command, by its parameters; nothing where it is not small."""
    return _small if _small and _small.is_run and parameters is _parameters else small_run_profile.Small("", {})


def of_unit_tests() -> SparkSession | None:
    """The session for unit tests, which have few rows in large runs too; None where they have the process's own."""
    global _of_unit_tests
    main = of_process()
    if _small is None or main is None or is_connect(main):
        return None
    with _opening:
        if _of_unit_tests is None or _of_unit_tests.sparkContext is not main.sparkContext:
            _of_unit_tests = main.newSession()
            configure(_of_unit_tests, _small.settings)
    return _of_unit_tests


def set_small(parameters: dict[str, str]) -> None:
    """Put what is set in small runs into their parameters, and take it back from a session that had one before."""
    settings = small_of(parameters).settings
    if _catalog:
        for name in _set - settings.keys():
            _catalog.spark.conf.unset(name)
    _set.clear()
    _set.update(settings)
    parameters.update(settings)


def prepare(credentials: SparkCredentials) -> None:
    """Make the environment and the warehouse ready for a dbt command; a second call for the same command does nothing.

    Raises:
        RuntimeError: There is no JVM, or the process has a Spark session of another kind.
        WarehouseError: The warehouse cannot be used.
    """
    global _catalog
    parameters = credentials.server_side_parameters
    with _opening:
        is_sail = parameters.pop(sail.ENGINE, None) == "sail"
        needs_java = not is_sail and of_process() is None
        root = parameters.pop(WAREHOUSE, None)
        options = [parameters.get("spark.driver.extraJavaOptions"), small_of(parameters).java]
        options.append("" if root else environment.catalog_option(parameters))
        environment.prepare(java_options=" ".join(filter(None, options)), needs_java=needs_java)
        if needs_java:
            guard_ports(parameters)
        set_small(parameters)
        ship_packages.send_packed(parameters)
        if root is None or ("SPARK_REMOTE" in os.environ and not is_sail):  # the warehouse is the server's
            return
        warehouse = _catalog.warehouse if _catalog else open_warehouse(root)
        if warehouse.root != Path(root).absolute():
            raise RuntimeError(f"this process builds in {warehouse.root}; start another one to build in {root}")
        if get_flags().WHICH in WRITING:
            warehouse.begin_writing()
        if _catalog is None:
            session = open_sail(parameters, warehouse) if is_sail else None
        parameters.update(spark_settings(warehouse))
        _catalog = _catalog or FolderCatalog(session or open_session(parameters), warehouse)
        _catalog.refresh()


def guard_ports(parameters: dict[str, str]) -> None:
    """Have a Spark session on this machine listen on 127.0.0.1 and ask for a secret, unless the profile says otherwise.

    The driver and its block manager deserialize Java objects from every client that they accept. On a cluster the
    secret has to be set up on all machines; see `docs/how-to/clusters.md`.
    """
    if ship_packages.is_local_master(parameters.get("spark.master", "")):
        for name, value in _GUARDED.items():
            parameters.setdefault(name, value)


def open_warehouse(root: str) -> Warehouse:
    """The warehouse at `root`; this process's own folder goes when the process ends.

    Raises:
        WarehouseError: It cannot be used.
    """
    if wrong := _NOT_IN_PATHS.search(str(Path(root).absolute())):
        raise WarehouseError(
            f"the warehouse cannot be {root!r}: engines take {wrong.group()!r} in a path for something else; "
            f"use a folder without it"
        )
    warehouse = Warehouse(Path(root))
    atexit.register(warehouse.close)
    return warehouse


def open_session(parameters: dict[str, str]) -> SparkSession:
    """The process's Spark session.

    Raises:
        RuntimeError: There is one already, and it was opened with another warehouse.
    """
    spark = SparkSession.builder.config(map=parameters).getOrCreate()
    place = spark.conf.get("spark.sql.warehouse.dir")
    if Path(place.removeprefix("file:")) != Path(parameters["spark.sql.warehouse.dir"]):
        raise RuntimeError(
            f"this process has a Spark session with its tables in {place}: "
            f"stop it first, or leave {WAREHOUSE} out of the profile to build there"
        )
    return spark


def open_sail(parameters: dict[str, str], warehouse: Warehouse) -> SparkSession:
    """The process's session on Sail.

    Raises:
        RuntimeError: There is a session of Spark's already.
        SailError: Sail cannot be used.
    """
    if (active := SparkSession.getActiveSession()) and not is_connect(active):
        raise RuntimeError("this process has a Spark session: start another process for Sail")
    return sail.connect(parameters, str(warehouse.scratch))


def spark_settings(warehouse: Warehouse) -> dict[str, str]:
    """What Spark has to know of a warehouse."""
    return {
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(warehouse.tables),
        "spark.local.dir": str(warehouse.scratch),
    }


def catalog_of(credentials: SparkCredentials) -> FolderCatalog | None:
    """The catalog over the warehouse of these credentials; None where they have none, or it is not open yet."""
    place = (credentials.server_side_parameters or {}).get("spark.sql.warehouse.dir")
    return _catalog if _catalog and str(_catalog.warehouse.tables) == place else None


def configure(session: SparkSession, parameters: Mapping[str, Any]) -> None:
    """Set what a profile wants of a session that is there, but for what only a new one takes."""
    for name, value in parameters.items():
        with suppress(PySparkException):
            session.conf.set(name, value)


def of_process() -> SparkSession | None:
    """The session that this process has, whichever thread or notebook opened it; None where it has none."""
    if (active := SparkSession.getActiveSession()) is not None:
        return active
    connect = sys.modules.get("pyspark.sql.connect.session")
    remote = connect.SparkSession._default_session if connect else None
    if remote is not None and not remote.is_stopped:
        return remote
    return getattr(SparkSession, "_instantiatedSession", None)


def current(credentials: SparkCredentials) -> SparkSession:
    """The session that Python models run on: the one of the profile's warehouse, the process's, or else a new one.

    Raises:
        DbtRuntimeError: SQL goes to a server, and nothing says where Python models are to go.
    """
    if _catalog:
        return _catalog.spark
    if (session := of_process()) is not None:
        return session
    if not has_place(credentials):
        raise DbtRuntimeError(no_place(credentials, []))
    session = SparkSession.builder.getOrCreate()
    configure(session, credentials.server_side_parameters)  # as the server's other sessions, which SQL models run on
    return session


def has_place(credentials: SparkCredentials) -> bool:
    """Whether there is anything that Python models could run on."""
    is_session = credentials.method == SparkConnectionMethod.SESSION
    return is_session or "SPARK_REMOTE" in os.environ or of_process() is not None


def no_place(credentials: SparkCredentials, models: Sequence[str]) -> str:
    """Say that there is nothing that Python models could run on, and which of them are to."""
    listed = f": {', '.join(sorted(models))}" if models else ""
    return (
        f"SQL models go to a server (method: {credentials.method}), and Python models to Spark Connect beside it: set "
        f"SPARK_REMOTE to its address, as sc://host:15002, or leave the Python models out{listed}"
    )


def end() -> None:
    """Let others build: a dbt command has ended."""
    if _catalog:
        _catalog.warehouse.end_writing()
