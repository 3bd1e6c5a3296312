"""A Spark cluster of two workers on 127.0.0.1, and servers on it, of the installed pyspark.

Other users of the machine can connect to all its ports, so each part asks for a secret (`spark.authenticate`, the token
of Spark Connect). Only the Thrift server cannot; it is started only if ACCEPTS says that the risk is accepted.

Each part is a process group of its own, so that Ctrl-C reaches only this program, which then ends them all. A mark in
their environment identifies processes that remain at the end, such as Python workers.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

import pyspark

from dbt_spark_python.session import environment

SPARK_HOME = Path(pyspark.__file__).parent
HOST = "127.0.0.1"
ADDRESS = "sc://localhost:{}"  # of Spark Connect; with this host name a client sends its token without TLS
STARTING = 180.0  # the limit for the start of a server, in seconds
ENDING = 15.0
MARK = "TANGLES_CLUSTER"
ACCEPTS = "TANGLES_ACCEPT_OPEN_THRIFT"  # in the environment: 1 accepts that every local user can run code by Thrift

MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
THRIFT = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
CONNECT_PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"

#: The cluster's spark-defaults.conf: small, and everything on this machine.
DEFAULTS = {
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.driver.memory": "2g",
    "spark.executor.memory": "1g",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.master.rest.enabled": "false",  # a server that would not ask for the secret
    "spark.ui.killEnabled": "false",  # on the pages of the master and the workers, which ask for no password
    "spark.authenticate": "true",
}


class ServerError(RuntimeError):
    """A server did not start; the message names the log with the cause."""


class Cluster:
    """Context manager: a master, its workers of one core each, and further servers, which all end with it."""

    def __init__(self, folder: Path, defaults: Mapping[str, str] | None = None) -> None:
        self.folder = folder.resolve()
        self.scratch = self.folder / "scratch"  # executors and drivers keep shuffle files there
        self.mark = uuid.uuid4().hex
        self.started: list[subprocess.Popen] = []
        self._secret = secrets.token_hex(32)
        self._defaults = DEFAULTS | dict(defaults or {})
        self._port, self._page = free_port(), free_port()
        self.master = f"spark://{HOST}:{self._port}"

    def __enter__(self) -> Cluster:
        (self.folder / "conf").mkdir(parents=True, exist_ok=True)
        (self.folder / "conf").chmod(0o700)  # it holds the secret, which command lines would expose
        given = {**self._defaults, "spark.authenticate.secret": self._secret}
        lines = [f"{name} {value}\n" for name, value in given.items()]
        (self.folder / "conf" / "spark-defaults.conf").write_text("".join(lines))
        try:
            self._start("master", [MASTER, "--host", HOST, "--port", self._port, "--webui-port", self._page])
            self._wait("master", lambda: self._alive_workers() == 0)
            # Two names of one address: Spark starts a copy of a slow task only on another host.
            for name, host in (("worker-1", HOST), ("worker-2", "localhost")):
                command = [WORKER, "--host", host, "--webui-port", 0, "--cores", 1, "--memory", "2g"]
                self._start(name, [*command, "--work-dir", self.folder / name, self.master])
            self._wait("master", lambda: self._alive_workers() == 2)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        end(self.started[::-1])
        self.started.clear()
        for pid in marked(self.mark):  # a Python worker is in a group of its own
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _alive_workers(self) -> int | None:
        """Return the number of workers that the master knows; None while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self._page}/json/", timeout=5) as answer:
                return json.load(answer)["aliveworkers"]
        except OSError:
            return None

    def environ(self, **more: str) -> dict[str, str]:
        """Return the environment for programs that use the cluster, without this process's own Spark settings."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
        return {
            **clean,
            MARK: self.mark,
            "SPARK_HOME": str(SPARK_HOME),
            "JAVA_HOME": str(environment.HERE / "java_home"),
            environment.REAL_JAVA: str(environment.find_java()),
            "SPARK_CONF_DIR": str(self.folder / "conf"),
            "SPARK_LOCAL_DIRS": str(self.scratch),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_CONNECT_AUTHENTICATE_TOKEN": self._secret,  # for servers and clients alike
            **more,
        }

    def start_connect(self, warehouse: Path) -> str:
        """Start a Spark Connect server on the cluster; return its address, for clients in the cluster's environment."""
        port = free_port()
        self._submit("connect", CONNECT, {"spark.connect.grpc.binding.port": port}, warehouse, [port])
        return ADDRESS.format(port)

    def start_thrift(self, warehouse: Path) -> tuple[int, str]:
        """Start a Thrift server with the Spark Connect plugin on the cluster; return its port and Connect's address."""
        if said := refuse_thrift():
            raise ServerError(said)
        port, of_connect = free_port(), free_port()
        settings = {"spark.plugins": CONNECT_PLUGIN, "spark.connect.grpc.binding.port": of_connect}
        arguments = ["--hiveconf", f"hive.server2.thrift.port={port}"]
        arguments += ["--hiveconf", f"hive.server2.thrift.bind.host={HOST}"]
        self._submit("thrift", THRIFT, settings, warehouse, [port, of_connect], arguments)
        return port, ADDRESS.format(of_connect)

    def stop(self, name: str) -> None:
        """End the servers that were started under a name, and their executors."""
        ended = [process for process in self.started if process.args[0] == name]
        end(ended)
        self.started = [process for process in self.started if process not in ended]

    def _submit(self, name, main_class, settings, warehouse: Path, ports: list[int], arguments=()) -> None:
        own = {"spark.master": self.master, "spark.connect.grpc.binding.address": HOST}
        own |= {"spark.sql.warehouse.dir": warehouse, "spark.sql.catalogImplementation": "hive"}
        command = ["org.apache.spark.deploy.SparkSubmit", "--class", main_class]
        for key, value in (own | settings).items():
            command += ["--conf", f"{key}={value}"]
        # Derby, the default catalog, writes to the given folder, or else to the current one.
        command += ["--driver-java-options", f"-Dderby.system.home={self.folder / name}", "spark-internal", *arguments]
        (self.folder / name).mkdir(exist_ok=True)
        self._start(name, command, PYSPARK_PYTHON=sys.executable)
        self._wait(name, lambda: all(map(is_open, ports)))

    def _start(self, name: str, arguments: list, **more: str) -> None:
        java = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        environ = self.environ(SPARK_DAEMON_MEMORY="512m", SPARK_DAEMON_JAVA_OPTS=" ".join(java), **more)
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [name, *map(str, arguments)],  # its name, and the program in the next line
                executable=SPARK_HOME / "bin" / "spark-class",
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd=self.folder,
            )
        self.started.append(process)

    def _wait(self, name: str, is_ready: Callable[[], bool]) -> None:
        until = time.monotonic() + STARTING
        while not is_ready():
            ended = [process.args[0] for process in self.started if process.poll() is not None]
            if ended or time.monotonic() > until:
                said = f"{ended[0]} ended" if ended else f"{name} was not ready after {STARTING:.0f} s"
                raise ServerError(f"{said}: see {self.folder / (ended or [name])[0]}.log")
            time.sleep(0.2)


def refuse_thrift() -> str | None:
    """Return the reason not to start a Thrift server; None if the risk is accepted."""
    if os.environ.get(ACCEPTS) == "1":
        return None
    return (
        "every user of this machine could run code as you through the Thrift server, which asks for no password; "
        f"if you trust all of them, set {ACCEPTS}=1"
    )


def free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        return found.getsockname()[1]


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def end(processes: list[subprocess.Popen]) -> None:
    for process in processes:
        _signal(process, signal.SIGTERM)
    until = time.monotonic() + ENDING
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, until - time.monotonic()))
        _signal(process, signal.SIGKILL)
        process.wait()


def marked(mark: str) -> list[int]:
    """Return the processes with a mark in their environment (Linux only; elsewhere an empty list)."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:  # it has ended, or belongs to another user
            continue
    return found


def _signal(process: subprocess.Popen, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
