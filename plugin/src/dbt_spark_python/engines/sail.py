"""Sail as the engine: LakeSail's server, which takes what PySpark's Spark Connect client sends, without a JVM.

A profile asks for it in its `server_side_parameters`:

    spark.dbt.engine: sail
    sail.runtime.memory_pool.greedy.max_size: "8000000000"  # and any setting of Sail's behind `sail.`

The server is embedded: it is a part of this process, and ends with it. Python functions run in this process too. Sail
has no authentication, so the server's port takes connections of this process alone (`door.py`, `listeners.py`,
`relay.py`). Where the system cannot enforce that, the server is not started, unless the profile accepts an open port.
With SPARK_REMOTE set the server there is used instead; it has to see the warehouse and the logs at the same paths, and
to have the packages that the functions import.

All that differs from Spark because of Sail is here, each with the version it was seen in. What is marked "until" can go
when a later version does as Spark does.
"""

import atexit
import json
import os
import re
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial, reduce
from importlib.metadata import PackageNotFoundError, version
from inspect import signature
from pathlib import Path
from typing import Any, BinaryIO

from dbt.adapters.spark.session import SessionConnectionWrapper
from dbt_common.exceptions import DbtRuntimeError
from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, StructType

from dbt_spark_python.engines import listeners
from dbt_spark_python.engines.local_socket import HOST, Door, DoorError
from dbt_spark_python.engines.relay import Relay
from dbt_spark_python.python_model import null_lists
from dbt_spark_python.python_model.columns import nullable as nullable_columns
from dbt_spark_python.python_model.columns import write_no_rows
from dbt_spark_python.python_model.null_lists import Batches
from dbt_spark_python.session import error_translation
from dbt_spark_python.session.memory import machine_memory
from dbt_spark_python.session.timeout import interrupt

# A cluster's workers have what is sent to them; importing this package takes dbt.
cloudpickle.register_pickle_by_value(null_lists)

#: In a profile's `server_side_parameters`: which engine an embedded session is of; without it, Spark.
ENGINE = "spark.dbt.engine"
#: There too: "true" lets the server start on a machine where other users can connect to its port.
OPEN_PORT = "spark.dbt.sail.open_port"
#: What Sail's own settings begin with there.
PREFIX = "sail."

#: The versions that these lines were written for. 0.7.0 to 0.7.2 refuse pyspark 4.3.
VERSIONS = "0.6"
#: Of the machine's memory, what queries may take before they go on in files or end. The rest is for what Sail does not
#: count, and for Python.
_SHARE = 0.6
_REMEDY = "pip install 'dbt-spark-python[sail]'"

# Settings of Sail that users may change, by the environment or the profile.
_SETTINGS = {
    # The folders below a table change when it is replaced, and REFRESH TABLE is not supported (until 0.6.6 at least).
    "sail.execution.file_listing_cache.type": "none",
    "sail.parquet.file_statistics_cache.type": "none",
    # Spark's own type of strings; readers of the files get no other either.
    "sail.parquet.schema_force_view_types": "false",
    # Who asks nothing for a quarter of an hour loses the session, and a statement that writes passes for nothing
    # (until 0.6.6 at least). A year: the server ends with its process.
    "sail.spark.session_timeout_secs": "31536000",
}

# Sail's own defaults have units, and pyspark's client expects numbers of bytes (until 0.6.6 at least).
_SESSION_SETTINGS = {
    "spark.sql.session.localRelationSizeLimit": str(3 * 2**30),
    "spark.sql.session.localRelationChunkSizeLimit": str(2000 * 2**20),
}

# Blanks and comments, which dbt puts before a statement.
_BEFORE = r"(\s|/\*.*?\*/|--[^\n]*\n)*"

# Statements that answer with a count of type uint64, which pyspark's client cannot take (until 0.6.6 at least).
_COUNTING = re.compile(_BEFORE + r"(create|insert|merge|with\b.*?\binsert)\b", re.IGNORECASE | re.DOTALL)

# Statements that do nothing but answer.
_QUERY = re.compile(_BEFORE + r"(select|with|describe)\b", re.IGNORECASE | re.DOTALL)

# What dbt-spark says before it replaces single partitions, which Sail cannot (until 0.6.6 at least).
_PARTITIONS = re.compile(_BEFORE + r"set\s+spark[.]sql[.]sources[.]partitionOverwriteMode", re.IGNORECASE | re.DOTALL)


class SailError(RuntimeError):
    """Sail cannot be used; the message says why and names the remedy."""


def connect(settings: dict[str, str], scratch: str) -> SparkSession:
    """Open this process's session, on the server of SPARK_REMOTE or on an embedded one that is started now.

    Args:
        settings: Sail's own begin with `sail.`; the others are of the session.
        scratch: A folder for what does not fit into memory.

    Raises:
        SailError: Sail is not installed, its version does not fit, or it does not start.
    """
    check_installed()
    _scratch.append(scratch)
    own = {key: value for key, value in settings.items() if key.startswith(PREFIX)}
    # Executions stay reattachable, though that doubles what a small query costs: without it, what goes wrong once rows
    # are on their way reaches no client, and half an answer looks whole (until 0.6.6 at least, with pyspark 4.3).
    if remote := os.environ.get("SPARK_REMOTE"):
        session = SparkSession.builder.remote(remote).getOrCreate()
    else:
        session = _open(start(own, scratch, settings.get(OPEN_PORT, "").lower() == "true"))
    _wait_for_statements(session)
    for key, value in {**_SESSION_SETTINGS, **settings}.items():
        if not key.startswith(PREFIX) and key != OPEN_PORT:
            session.conf.set(key, value)
    return session


def _open(target: str) -> SparkSession:
    """Open a session on a server of this process by its gRPC address: pyspark's own addresses name no Unix sockets."""
    from pyspark.sql.connect.client import core
    from pyspark.sql.connect.session import SparkSession as RemoteSession

    class Builder(getattr(core, "DefaultChannelBuilder", core.ChannelBuilder)):  # pyspark 3.5 has the second alone
        def toChannel(self) -> Any:
            import grpc

            return grpc.insecure_channel(target, options=self._channel_options)

    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"  # as pyspark does where it is told an address
    return RemoteSession.builder.channelBuilder(Builder("sc://localhost")).getOrCreate()


def _wait_for_statements(session: SparkSession) -> None:
    """Have a session's client wait for an execution as long as it takes.

    Since pyspark 4.3 it ends the stream of one after ten minutes and asks for it again. Sail knows of a statement that
    writes only once it is done: what ends its stream ends the statement, and then there is nothing to ask for
    ("operation not found"; until 0.6.6 at least). An embedded server does not get lost without this process.
    """
    client = session.client
    if hasattr(client, "_rpc_deadlines"):
        client._rpc_deadlines = replace(client._rpc_deadlines, reattachable_execute_plan=None, reattach_execute=None)


def check_installed() -> None:
    """Refuse an environment where Sail cannot run.

    Raises:
        SailError: It is not installed, or its version does not fit.
    """
    try:
        found = version("pysail")
    except PackageNotFoundError:
        raise SailError(f"the target needs pysail, and this environment has none: {_REMEDY}") from None
    if not found.startswith(f"{VERSIONS}."):
        raise SailError(f"pysail {found} does not fit pyspark {version('pyspark')}: version {VERSIONS} does, {_REMEDY}")


def start(settings: dict[str, str], scratch: str, accepts_open_port: bool = False) -> str:
    """Start the embedded server.

    Args:
        settings: Sail's own, which begin with `sail.`.
        scratch: A folder for what does not fit into memory.
        accepts_open_port: Start it even where other users of this machine can then run code as this user.

    Returns:
        The server's address, as a gRPC client takes it.

    Raises:
        SailError: It does not start, or other users could reach it.
    """
    most = str(int(_SHARE * machine_memory()))
    settings = {
        **_SETTINGS,
        # Sail's own default is no bound, until the system ends the process or others. Where each part of a query has a
        # share of its own (`fair`), rows on their way to other partitions go to files soon, and two tasks that write
        # there at once may leave the query standing still for ever (until DataFusion 54; apache/datafusion#24883).
        "sail.runtime.memory_pool.type": "greedy",
        "sail.runtime.memory_pool.greedy.max_size": most,
        "sail.runtime.memory_pool.fair.max_size": most,  # for who asks for that type all the same
        "sail.runtime.temporary_files.paths": json.dumps([scratch], ensure_ascii=False),
        **settings,
    }
    _teach_worker()
    variables = {key.upper().replace(".", "__").replace("SAIL__", "SAIL_", 1): value for key, value in settings.items()}
    with _unless_set({**variables, "RUST_LOG": "error"}):
        try:
            _check_mode(variables)
            return _start_guarded()
        except DoorError as error:
            if accepts_open_port:
                return "{}:{}".format(*_serve(HOST).listening_address)
            raise SailError(
                f"other users of this machine could connect to Sail and run code as you: {error}. Build with Spark, or "
                f'if you trust all of them, set {OPEN_PORT}: "true" in the profile\'s server_side_parameters'
            ) from error


def _check_mode(variables: dict[str, str]) -> None:
    """Refuse the modes in which Sail opens further ports for its workers.

    Raises:
        DoorError: Sail is set to such a mode.
    """
    mode = os.environ.get("SAIL_MODE", variables.get("SAIL_MODE", "local"))
    if mode != "local":
        raise DoorError(f"in the mode {mode!r} Sail opens ports for its workers, and every user can connect to them")


def _start_guarded() -> str:
    """Start a server that takes connections of this process alone; returns its gRPC address.

    Raises:
        DoorError: The system cannot enforce that.
        SailError: It does not start.
    """
    door = Door()
    listeners.check_unreachable()
    server = _serve(listeners.UNREACHABLE)
    listeners.replace_listener(server.listening_address, door.listener)
    relay = Relay(door.connect)
    atexit.register(relay.close)
    atexit.register(door.close)
    return relay.target


def _serve(host: str) -> Any:
    """Start a server on a port that the system chooses; it ends with the process.

    Raises:
        SailError: It does not start.
    """
    from pysail.spark import SparkConnectServer

    try:
        server = SparkConnectServer(host, 0)
        server.start(background=True)
    except Exception as error:
        raise SailError(f"Sail does not start: {error}") from error
    _servers.append(server)
    atexit.register(_stop, server)
    return server


@contextmanager
def _unless_set(variables: dict[str, str]) -> Iterator[None]:
    """Variables of the environment for the time that something reads them.

    They stay out of the environment of later processes, where they would pass for the user's own.
    """
    mine = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(mine)
    try:
        yield
    finally:
        for name in mine:
            del os.environ[name]


def _stop(server: Any) -> None:
    """Stop the server; what still runs in it of a model that took too long ends first.

    A Python function that goes on while the interpreter ends takes the process down, with an exit code of its own.
    """
    known = {thread.ident for thread in threading.enumerate() if not isinstance(thread, threading._DummyThread)}
    patience = time.monotonic() + _PATIENCE
    while (running := sys._current_frames().keys() - known) and time.monotonic() < patience:
        for thread in running:
            interrupt(thread, SystemExit)
        time.sleep(0.05)
    server.stop()


_PATIENCE = 10.0  # seconds
_BITS = 62  # of a bigint
_scratch: list[str] = []  # where the session of this process keeps files of its own
_servers: list[Any] = []  # they end when nothing refers to them


class SailCursor(error_translation.OpenCursor):
    """A cursor on Sail."""

    def execute(self, sql: str, *parameters: Any) -> None:
        """Execute a statement.

        Raises:
            DbtRuntimeError: Sail does not take it, or it fails.
        """
        if _PARTITIONS.match(sql):
            raise DbtRuntimeError(
                "on Sail `insert_overwrite` replaces whole tables: leave `partition_by` out, or build with Spark"
            )
        counts = _COUNTING.match(sql)
        if not counts and not parameters and _QUERY.match(sql):
            self._df = ask(self.session, sql)
            with error_translation.told():
                self._rows = self._df.collect()
            return
        super().execute(sql, *parameters)
        if counts:
            self._df, self._rows = None, []


def ask(session: SparkSession, query: str) -> DataFrame:
    """The rows of a query. On Sail it is sent once, when they are taken; `sql` sends it for itself and columns too."""
    if not is_sail(session):
        return session.sql(query)
    from pyspark.sql.connect.plan import SQL

    answer = _answer_class()
    # pyspark 3.5 makes them by another name.
    return answer.withPlan(SQL(query), session) if hasattr(answer, "withPlan") else answer(SQL(query), session)


@cache
def _answer_class() -> type[DataFrame]:
    from pyspark.sql.connect.dataframe import DataFrame as Rows

    class Answer(Rows):
        def _to_table(self) -> tuple:
            table, schema = super()._to_table()
            self._cached_schema = schema
            return table, schema

        def _get_binary_as_bytes(self) -> bool:
            return True  # as everywhere, without asking the server for the setting each time

    return Answer


def handle(session: SparkSession) -> SessionConnectionWrapper:
    """What dbt-spark takes for a connection to a session."""
    return error_translation.handle(session, SailCursor)


@cache
def is_sail(session: SparkSession) -> bool:
    """Whether a session is one of Sail's."""
    return "connect" in type(session).__module__ and session.sql("select current_catalog()").first()[0] == "sail"


def checkpoint(rows: DataFrame) -> DataFrame:
    """Compute some rows once, for all that reads them.

    Sail has no checkpoints (until 0.6.6 at least): there they go to a file, which goes with the process.
    """
    if not is_sail(rows.sparkSession):
        return rows.localCheckpoint()
    columns = nullable_columns(rows.schema)
    place = Path(_scratch[-1]) / f"checkpoint-{uuid.uuid4().hex}"
    place.mkdir(parents=True)
    rows.write.mode("overwrite").parquet(str(place))
    if next(place.rglob("*.parquet"), None) is None:
        write_no_rows(place, columns)
    return rows.sparkSession.read.schema(columns).parquet(str(place))


def gather(rows: DataFrame, *keys: Column | str) -> DataFrame:
    """Bring the rows of a key into one partition, and those of other keys into as many as the engine thinks fit.

    Sail takes all of them into one, unless it is told how many (until 0.6.6 at least). Spark leaves the shuffle out
    where a join has brought the rows of the same columns together, and then divides a partition of that join that is
    much larger than the others (until 4.3 at least); of a hash of the keys it knows no such thing.
    """
    if is_sail(rows.sparkSession):
        return rows.repartition(os.cpu_count() or 1, *keys)
    return rows.repartition(sf.xxhash64(*keys))


def map_in_arrow(rows: DataFrame, function: Callable[[Batches], Batches], schema: StructType) -> DataFrame:
    """Hand rows to a Python function as `mapInArrow` does; null lists so that they are not slow on Spark."""
    lists = [field for field in rows.schema.fields if isinstance(field.dataType, ArrayType)][:_BITS]
    if is_sail(rows.sparkSession) or not lists:
        return rows.mapInArrow(function, schema)
    names = [field.name for field in lists]
    bits = (sf.when(sf.col(name).isNull(), 1 << number).otherwise(0) for number, name in enumerate(names))
    rows = rows.withColumns(
        {
            null_lists.NULL_LISTS: reduce(Column.__add__, bits).cast("bigint"),
            **{f.name: sf.coalesce(f.name, sf.array().cast(f.dataType)) for f in lists},
        }
    )
    return rows.mapInArrow(partial(null_lists.call, function=function, lists=names), schema)


def leading_bytes(session: SparkSession, column: str, count: int) -> Column:
    """Cut a binary column to so many bytes. On Sail it stays whole: there only strings can be cut (until 0.6.6).

    Lines of files are cut there as they are read.
    """
    return sf.col(column) if is_sail(session) else sf.expr(f"substring({column}, 1, {count:d})").alias(column)


def nullable(rows: DataFrame) -> DataFrame:
    """The same rows in columns that may be null, as Spark makes those of tables: MERGE needs it (until 0.6.6)."""
    return rows.sparkSession.createDataFrame([], nullable_columns(rows.schema)).unionAll(rows)


def copy(session: SparkSession, table: str, name: str) -> None:
    """Make a table with the rows of another: ALTER TABLE cannot rename one (until 0.6.6 at least)."""
    session.sql(f"create table {name} using parquet as select * from {table}")


def _teach_worker() -> None:
    """Let Sail call Python functions with a pyspark newer than it knows.

    Sail calls `read_udfs` of pyspark's worker, in this process, as pyspark 4.1 and older have it; with those nothing is
    changed here (pysail 0.6.6; 0.7.2 knows pyspark 4.2 and refuses newer ones).
    """
    from pyspark import worker
    from pyspark.sql.pandas import serializers

    newer = worker.read_udfs
    if len(signature(newer).parameters) > 3:
        worker.read_udfs = lambda *given: _read_map_in_arrow(*given) if len(given) == 3 else newer(*given)
    for name in ("ArrowStreamPandasUDFSerializer", "ArrowStreamPandasUDTFSerializer"):
        if not hasattr(serializers, name):  # Sail imports them, and uses them for functions on pandas alone
            setattr(serializers, name, None)


def _read_map_in_arrow(serializer: Any, stream: BinaryIO, kind: int) -> tuple:
    """Read the function of one `mapInArrow` as Sail sends it; returns what pyspark 4.1 does."""
    from pyspark.util import PythonEvalType

    if kind != PythonEvalType.SQL_MAP_ARROW_ITER_UDF:
        raise SailError("of Python functions Sail runs mapInArrow alone with this version of pyspark")

    def read_int() -> int:
        return int.from_bytes(stream.read(4), "big")

    for _ in range(2 * read_int()):  # names and values of settings
        stream.read(read_int())
    stream.read(1)  # whether it is profiled
    read_int()  # one function
    stream.read(4 * read_int())  # of which columns
    read_int()  # of one part
    function, _ = serializer.loads(stream.read(read_int()))
    return (lambda _, batches: ((batch, None) for batch in function(batch for (batch,) in batches)),)
