"""A server within the process accepts connections of this process only."""

import contextlib
import os
import socket
import subprocess
import sys
import time

import pytest

import port_attacks
from conftest import TESTS
from dbt_process import SAIL_SERVER, run_python, started
from dbt_spark_python.engines import local_socket, relay, sail_server
from dbt_spark_python.fences import replaced_listener, socket_filter
from dbt_spark_python.session import connection
from plugin_projects import make_project

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="socket filters need Linux")

SECRET = "for the builder alone"

WAITING = """
import os, time
from pathlib import Path

def model(dbt, spark):
    place = Path(os.environ["PLACE_OF_THE_TEST"])
    (place / "pid").write_text(str(os.getpid()))
    while not (place / "go").exists():
        time.sleep(0.05)
    return spark.range(1)
"""


@pytest.fixture
def secret(tmp_path):
    file = tmp_path / "secret.txt"
    file.write_text(SECRET)
    file.chmod(0o600)
    return file


def test_another_user_reads_a_secret_through_an_open_port(secret):
    """Without the guard the attack succeeds, which shows that the attack of the other tests is effective."""
    pytest.importorskip("pysail")
    with started(SAIL_SERVER) as (pid, _):
        said = port_attacks.ask_connect(port_attacks.listening(int(pid)), secret)
    assert [SECRET in answer for answer in said.values()] == [True]


@contextlib.contextmanager
def building(folder):
    """The id of a process that builds a model until the block ends; the build must then succeed."""
    project = make_project(folder / "project", {"waits.py": WAITING})
    command = [sys.executable, "-m", "dbt.cli.main", "build", "--project-dir", project, "--profiles-dir", TESTS]
    own = {"DBT_SPARK_PYTHON_TEST_WAREHOUSE": str(folder / "warehouse"), "PLACE_OF_THE_TEST": str(folder)}
    with subprocess.Popen(command, env=os.environ | own, cwd=folder, stdout=subprocess.PIPE, text=True) as build:
        until = time.monotonic() + 120
        while not (folder / "pid").exists() or not (folder / "pid").read_text():
            assert build.poll() is None and time.monotonic() < until, "the model did not begin"
            time.sleep(0.05)
        try:
            yield int((folder / "pid").read_text())
        finally:
            (folder / "go").touch()
        output, _ = build.communicate(timeout=120)
    assert build.returncode == 0, output


@pytest.mark.long
@pytest.mark.sail
def test_another_user_is_refused_during_a_build(tmp_path, secret):
    with building(tmp_path) as pid:
        said = port_attacks.ask_connect(port_attacks.listening(pid), secret)
    assert {target.partition(":")[0] for target in said} == {"127.0.0.1", "unix-abstract"}
    assert set(said.values()) <= {"UNAVAILABLE", "DEADLINE_EXCEEDED"}


OF_SPARK = """
import os, sys
from dbt_spark_python.session import environment
environment.prepare()
from pyspark.sql import SparkSession
here = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false"}
SparkSession.builder.master("local[1]").config(map=here).getOrCreate()
print(os.getpid(), flush=True)
sys.stdin.read()
"""
NO_SECRET = "Expected SaslMessage"  # Spark's answer to a message without a secret
NO_TOKEN = "Authentication error"  # py4j's answer to a call without a token


@pytest.mark.spark
def test_another_user_is_heard_by_a_spark_that_asks_for_no_secret():
    """Without a secret, the driver and its block manager read another user's bytes; py4j always requires its token."""
    with started(OF_SPARK) as (pid,):
        said = port_attacks.ask_jvm(port_attacks.jvm_of(int(pid)))
    assert sum("org.apache.spark" in answer and NO_SECRET not in answer for answer in said) == 2
    assert sum(NO_TOKEN in answer for answer in said) == 1


@pytest.mark.spark
def test_another_user_is_refused_by_spark_during_a_build(tmp_path):
    with building(tmp_path) as pid:
        said = port_attacks.ask_jvm(port_attacks.jvm_of(pid))
    assert len(said) == 3
    assert all(NO_SECRET in answer or NO_TOKEN in answer for answer in said), said


@pytest.mark.parametrize(
    ("given", "asks", "host"),
    [
        ({"spark.master": "local[*]"}, "true", "127.0.0.1"),
        ({"spark.master": "local", "spark.driver.bindAddress": "0.0.0.0"}, "true", "0.0.0.0"),
        ({"spark.master": "local[2]", "spark.authenticate": "false"}, "false", "127.0.0.1"),
        ({"spark.master": "local-cluster[2,1,1024]"}, None, None),  # the owner of a cluster sets up its secret
        ({"spark.master": "spark://host:7077"}, None, None),
    ],
)
def test_which_sessions_ask_for_a_secret(given, asks, host):
    parameters = dict(given)
    connection.guard_ports(parameters)
    assert parameters.get("spark.authenticate") == asks
    assert parameters.get("spark.driver.bindAddress") == host


def connects(address, source=None) -> bool:
    """Whether a connection can be opened, within a time that is ample on one machine."""
    with socket.socket() as stranger:
        stranger.settimeout(0.2)
        if source:
            stranger.bind(source)
        return stranger.connect_ex(address) == 0


def test_a_guarded_socket_accepts_its_own_connection_only():
    """Even while one port is admitted, the same port of another address is refused."""
    own = local_socket.GuardedSocket()
    with contextlib.closing(own), own.connect() as first, own.listener.accept()[0] as taken:
        assert not connects(own.listener.getsockname())
        socket_filter.admit(own.listener, first.getsockname()[1])
        assert not connects(own.listener.getsockname(), ("127.0.0.2", first.getsockname()[1]))
        with pytest.raises(OSError), socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(first.getsockname())
        socket_filter.admit(own.listener, 0)
        first.sendall(b"stays")
        assert taken.recv(5) == b"stays"
        with own.connect() as second:
            assert own.listener.accept()[1] == second.getsockname()


def test_a_filter_that_is_ignored_is_noticed(monkeypatch):
    monkeypatch.setattr(socket_filter, "_DROP", socket_filter._PASS)
    with pytest.raises(local_socket.GuardError, match="does not heed the filter"):
        local_socket.GuardedSocket()


def test_a_server_that_cannot_be_replaced_is_refused(monkeypatch):
    """Its socket is not found, or is not registered with epoll; and its address must be out of reach."""

    def refused(said):
        return pytest.raises(local_socket.GuardError, match=said)

    with contextlib.closing(local_socket.GuardedSocket()) as own:
        with refused("no file of this process listens"):
            replaced_listener.replace_listener((replaced_listener.UNREACHABLE, 1), own.listener)
        with (
            socket.create_server((replaced_listener.UNREACHABLE, 0)) as server,
            refused("registered with epoll in 0 ways"),
        ):
            replaced_listener.replace_listener(server.getsockname(), own.listener)
    monkeypatch.setattr(replaced_listener, "UNREACHABLE", "127.0.0.1")
    with refused(r"127\.0\.0\.1 is an address like any other here"):
        replaced_listener.check_unreachable()


STRANGER = """
import socket, sys
with socket.socket(socket.AF_UNIX) as stranger:
    stranger.settimeout(5)
    stranger.connect("\\0" + sys.argv[1])
    print(stranger.recv(1))
"""


def test_a_relay_serves_its_own_process_only():
    closing = contextlib.closing
    with closing(local_socket.GuardedSocket()) as own, closing(relay.Relay(own.connect)) as passing:
        name = "\0" + passing.target.partition(":")[2]
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(name)
            client.sendall(b"asked")
            own.listener.setblocking(True)
            server, _ = own.listener.accept()
            with server:
                assert server.recv(5) == b"asked"
                server.sendall(b"answered")
            assert (client.recv(8), client.recv(1)) == (b"answered", b"")
        done = run_python(STRANGER, name[1:])
        assert done.stdout == "b''\n", done.stderr


REFUSED = """
import sys
from dbt_spark_python.engines import sail_server
from dbt_spark_python.fences import socket_filter
socket_filter._ATTACH_FILTER = -1
try:
    print(sail_server.connect(eval(sys.argv[1]), sys.argv[2]).sql("select 1").first()[0])
except sail_server.SailError as error:
    print(error)
"""
IS_REFUSED = "other users of this machine could connect to Sail and run code as you: "


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param({}, f"{IS_REFUSED}the system refuses a socket filter", id="refused"),
        pytest.param(
            {sail_server.OPEN_PORT: "false"},
            f"{IS_REFUSED}the system refuses a socket filter",
            id="said not to",
            marks=pytest.mark.long,
        ),
        pytest.param({sail_server.OPEN_PORT: "True"}, "1", id="accepted", marks=pytest.mark.long),  # YAML's `true`
    ],
)
def test_an_open_port_needs_consent_in_the_profile(settings, said, tmp_path):
    pytest.importorskip("pysail")
    done = run_python(REFUSED, repr(settings), tmp_path)
    assert done.stdout.startswith(said), done.stderr
    assert "\n" not in done.stdout.rstrip()


def test_modes_with_ports_for_workers_are_refused(tmp_path, monkeypatch):
    pytest.importorskip("pysail")
    monkeypatch.delenv("SAIL_MODE", raising=False)
    said = r"in the mode 'local-cluster' Sail opens ports.*spark.dbt.sail.open_port"
    with pytest.raises(sail_server.SailError, match=said):
        sail_server.start({"sail.mode": "local-cluster"}, str(tmp_path))
