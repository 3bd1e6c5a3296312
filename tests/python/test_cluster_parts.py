"""The program that builds on a cluster and injects faults there, as far as it works without Spark."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import pytest

from conftest import ROOT
from tests.cluster import __main__ as demo
from tests.cluster import catching as catching_module
from tests.cluster import faults, processes, servers, tables, targets
from tests.cluster.application import Application
from tests.cluster.build import BuildError
from tests.cluster.catching import DAEMON, MERGE, Catching, Caught
from tests.cluster.fault_injection import KINDS


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pigeon"], "unknown target 'pigeon'; choose from cluster, "),
        (["--log", "/nowhere"], "there is no file /nowhere"),
        (["faults", "driver", "pigeon"], "unknown fault 'pigeon'; choose from executor, "),
        (["nights", "pigeon"], "unknown stage 'pigeon'; choose from machine, "),
    ],
)
def test_faults_that_cannot_run_are_refused(arguments, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        demo.main(arguments)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_a_target_that_this_environment_cannot_build_on(monkeypatch, capsys):
    """A target without its packages is left out with an install command; if it was named, the command fails."""
    monkeypatch.setitem(targets.NEEDS, "thrift", {"no_such_module": "thrift", "sys": "connect"})
    monkeypatch.setattr(demo, "demonstrate", lambda targets, options: 0)
    assert demo.main(["thrift"]) == 1
    assert "thrift: left out, as this environment cannot: make servers, or pip install 'dbt-tangles[thrift]'" in (
        capsys.readouterr().out
    )
    monkeypatch.setattr(demo, "demonstrate", lambda targets, options: 1)
    assert demo.main(["cluster"]) == 1
    monkeypatch.setattr(demo, "demonstrate", lambda targets, options: 0)
    assert demo.main(["cluster"]) == 0


def test_a_thrift_server_is_left_out_unless_its_risk_is_accepted(monkeypatch, capsys):
    """The Thrift server is the one server without a password."""
    built = []
    monkeypatch.setattr(demo, "demonstrate", lambda targets, options: built.append(targets) or 0)
    monkeypatch.setattr(targets, "lacking", lambda target: [])
    monkeypatch.delenv(servers.ACCEPTS, raising=False)
    assert demo.main([]) == 0
    assert "thrift: left out: every user of this machine could run code as you" in capsys.readouterr().out
    assert demo.main(["thrift"]) == 1
    with pytest.raises(servers.ServerError, match=servers.ACCEPTS):
        servers.Cluster(ROOT).start_thrift(ROOT)
    monkeypatch.setenv(servers.ACCEPTS, "1")
    assert demo.main(["thrift"]) == 0
    assert built == [["cluster", "connect"], [], ["thrift"]]


def test_the_secret_of_a_cluster_is_in_a_file_of_its_owner_alone(tmp_path, monkeypatch):
    """Every user can read command lines."""
    cluster = servers.Cluster(tmp_path / "servers")
    commands = []
    monkeypatch.setattr(cluster, "_start", lambda name, arguments, **more: commands.append(arguments))
    monkeypatch.setattr(cluster, "_wait", lambda name, is_ready: None)
    before = os.umask(0)
    try:
        with cluster:
            cluster.start_connect(tmp_path / "warehouse")
    finally:
        os.umask(before)
    said = (tmp_path / "servers" / "conf" / "spark-defaults.conf").read_text()
    assert f"spark.authenticate.secret {cluster._secret}\n" in said
    assert (tmp_path / "servers" / "conf").stat().st_mode & 0o777 == 0o700
    assert len(commands) == 4 and not any(cluster._secret in str(argument) for each in commands for argument in each)


def test_processes_are_found_by_their_mark(tmp_path):
    """Processes in groups of their own are found too."""
    mark = str(tmp_path)
    child = subprocess.Popen(
        [sys.executable, "-c", "print('started', flush=True); input()"],
        env={**os.environ, servers.MARK: mark},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stdout.readline() == b"started\n"  # the system has its environment now
    assert servers.marked(mark) == [child.pid]
    servers.end([child])
    assert servers.marked(mark) == []


def test_a_model_of_each_kind_is_struck():
    """Each folder of Python models has one, except that of runs: its tasks run without Python."""
    models = {path.stem: path.relative_to(ROOT / "python_models") for path in ROOT.glob("python_models/**/*.py")}
    folders = {path.parts[: 1 if path.parts[0] == "staging" else 2] for path in models.values()}
    struck = {models[name].parts[: 1 if name.startswith("stg_") else 2] for name in KINDS.values()}
    assert struck == folders - {("intermediate", "runs")}
    assert [*KINDS.values()] == [*faults.FAULTS["executor"].models] == [*faults.FAULTS["python"].models]


def test_each_model_is_struck_in_a_build_of_its_own_where_that_ends_it():
    assert faults.FAULTS["driver"].builds() == [["stg_ssb__lines"], ["int_tangle_levels"]]
    assert faults.FAULTS["straggler"].builds() == [["stg_ssb__lines", "int_tangle_levels"]]
    assert [name for name, fault in faults.FAULTS.items() if not fault.ends_well] == ["memory", "killed", "driver"]


def test_a_fault_builds_its_models_without_tests():
    assert faults.command_for(["a", "b", "a"]) == (
        "build", "--select", "+a", "+b", "--exclude-resource-type", "test", "unit_test"
    )  # fmt: skip


TASK = """
import sys
import catching_daemon
from types import SimpleNamespace

catching_daemon.model_of_task = lambda: "walked"

def rows(split, batches):
    yield SimpleNamespace(num_rows=0)
    yield from batches

run = catching_daemon.caught_in_the_middle(rows, sys.argv[1])
is_old = sys.argv[2:] == ["4.1"]
batches = [SimpleNamespace(num_rows=3), SimpleNamespace(num_rows=4)]
for batch in run(0, [(batch, "its type") for batch in batches] if is_old else batches):
    print((batch[0] if isinstance(batch, tuple) else batch).num_rows, flush=True)
"""


def task(folder, *version) -> subprocess.Popen:
    """A process that yields rows as a task does; pyspark 4.1 yields them with their type."""
    return subprocess.Popen(
        [sys.executable, "-c", TASK, str(folder), *version],
        env={**os.environ, "PYTHONPATH": str(DAEMON.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def caught_by(catching: Catching, process: subprocess.Popen) -> list[Caught]:
    """Return the tasks caught before a process ends."""
    while process.poll() is None:
        if found := catching.caught():
            return found
        time.sleep(0.02)
    return []


@pytest.mark.parametrize("version", [[], ["4.1"]])
def test_the_first_task_stops_in_the_middle_and_goes_on(tmp_path, version):
    catching = Catching(tmp_path / "caught")
    catching.wait_for(["other", "walked"])
    process = task(tmp_path / "caught", *version)
    assert caught_by(catching, process) == [Caught("walked", process.pid)]
    assert process.stdout.readline() + process.stdout.readline() == "0\n3\n"
    assert processes.is_stopped(process.pid)
    os.kill(process.pid, signal.SIGCONT)
    assert process.communicate()[0] == "4\n"
    second = task(tmp_path / "caught")
    assert caught_by(catching, second) == []
    assert second.communicate()[0] == "0\n3\n4\n"


def test_each_task_is_caught_where_that_is_asked(tmp_path):
    catching = Catching(tmp_path / "caught")
    catching.wait_for(["walked"], "always")
    for _ in range(2):
        process = task(tmp_path / "caught")
        assert caught_by(catching, process) == [Caught("walked", process.pid)]
        process.kill()
        process.wait()
    catching.wait_for([])
    assert task(tmp_path / "caught").communicate()[0] == "0\n3\n4\n"


def test_the_executor_of_a_process_is_found():
    """The executor is above Python's daemon, and the cluster's worker above the executor."""
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    parent = subprocess.Popen(
        [sys.executable, "-c", code, processes.EXECUTOR], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    parent.stdout.readline()
    with open(f"/proc/{parent.pid}/task/{parent.pid}/children") as children:
        child = int(children.read())
    assert processes.above(child, processes.EXECUTOR) == parent.pid
    with pytest.raises(ProcessLookupError, match=r"process \d+ has no ancestor that runs .*Worker"):
        processes.above(child, processes.WORKER)
    parent.communicate(b"")
    assert not processes.is_stopped(child)


@pytest.fixture
def page():
    """Return the answers of a page by path, and the application that reads this page."""
    answers = {}

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path in answers else 404)
            self.end_headers()
            self.wfile.write(json.dumps(answers.get(self.path)).encode())

        def log_message(self, *said):
            """Suppress the server's log."""

    server = HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield answers, Application(server.server_port)
    server.shutdown()
    server.server_close()


def test_stages_are_read_from_sparks_pages(page):
    answers, application = page
    assert not application.has_copies()
    assert not application.has_retried()
    stages = "/api/v1/applications/app-1/stages"
    answers["/api/v1/applications"] = [{"id": "app-1"}]
    answers[stages] = answers[f"{stages}?status=active"] = [{"stageId": 4, "attemptId": 0}]
    tasks = f"{stages}/4/0/taskList?status=running&length=1000"
    answers[tasks] = [{"speculative": False}]
    assert not application.has_copies()
    assert not application.has_retried()
    answers[tasks] = [{"speculative": False}, {"speculative": True}]
    answers[stages] = [{"stageId": 4, "attemptId": 1}, {"stageId": 4, "attemptId": 0}]
    assert application.has_copies()
    assert application.has_retried()


@pytest.fixture
def executor():
    """Return a process that looks like the executor 7 of an application."""
    words = [processes.EXECUTOR, "--app-id", "app-1", "--executor-id", "7"]
    process = subprocess.Popen(
        [sys.executable, "-c", "print(1, flush=True); input()", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def page_of_a_statement(plan: str) -> dict[str, object]:
    """Return the answers of a page: two statements run tasks, and the second has this plan."""
    root = "/api/v1/applications"
    running = {"status": "RUNNING", "runningJobIds": [3]}
    answers = {
        root: [{"id": "app-1"}],
        f"{root}/app-1/sql?details=false&planDescription=false&length=10000": [
            {"id": 0, "status": "COMPLETED", "runningJobIds": []},
            {"id": 1, **running, "runningJobIds": [2]},
            {"id": 2, **running},
        ],
        f"{root}/app-1/sql/1?details=false": {"planDescription": "AppendData lake.tangles.feeds__next"},
        f"{root}/app-1/sql/2?details=false": {"planDescription": plan},
        f"{root}/app-1/stages?status=active": [{"stageId": 5, "attemptId": 0}, {"stageId": 6, "attemptId": 1}],
    }
    for job, stage, attempt in ((2, 5, 0), (3, 6, 1)):
        answers[f"{root}/app-1/jobs/{job}"] = {"stageIds": [stage]}
        tasks = f"{root}/app-1/stages/{stage}/{attempt}/taskList?status=running&length=1000"
        answers[tasks] = [{"executorId": str(stage + 1)}]
    return answers


@pytest.mark.parametrize(
    ("plan", "found"),
    [
        ("ReplaceData IcebergWrite(table=lake.t.kept) BatchScan lake.t.kept__next", [("kept", "app-1", "7")]),
        ("OverwriteByExpression IcebergWrite(table=lake.t.kept) BatchScan lake.t.kept__next", [("kept", "app-1", "7")]),
        ("AppendData lake.t.kept__next", []),
        ("OverwriteByExpression IcebergWrite(table=lake.t.kept__next) BatchScan lake.t.kept", []),
        ("ReplaceData IcebergWrite(table=lake.t.kept)", []),
    ],
)
def test_a_merge_is_a_statement_that_reads_new_rows_and_replaces_others(page, plan, found):
    answers, application = page
    answers |= page_of_a_statement(plan)
    assert application.merges() == found


def test_the_executor_of_a_merge_is_stopped_while_a_task_of_it_runs(page, executor, tmp_path):
    answers, application = page
    answers |= page_of_a_statement("ReplaceData lake.t.kept BatchScan lake.t.kept__next")
    catching = Catching(tmp_path / "caught")
    catching.application = application
    assert catching.caught() == []
    catching.wait_for([MERGE])
    assert catching.caught() == [Caught(MERGE, executor.pid, "kept")]
    assert processes.is_stopped(executor.pid)
    assert catching.caught() == []


def test_the_executor_of_a_merge_goes_on_if_its_task_has_ended(page, executor, tmp_path, monkeypatch):
    answers, application = page
    answers |= page_of_a_statement("ReplaceData lake.t.kept BatchScan lake.t.kept__next")
    catching = Catching(tmp_path / "caught")
    catching.application = application
    catching.wait_for([MERGE])
    monkeypatch.setattr(catching_module.time, "sleep", lambda seconds: answers.clear())
    assert catching.caught() == []
    assert executor.poll() is None and not processes.is_stopped(executor.pid)


def test_the_executor_with_most_rows_of_earlier_rounds_is_stopped_after_a_round(page, executor, tmp_path):
    answers, application = page
    answers["/api/v1/applications"] = [{"id": "app-1"}]
    catching = Catching(tmp_path / "caught")
    catching.application = application
    catching.wait_for(["int_tangle_depths"], catching_module.ROWS)
    said = "10:00:00  int_tangle_depths: depth 0: 9 messages settled"
    for blocks, output in ((4, "10:00:00  START sql fixpoint model int_tangle_depths"), (0, said)):
        listed = [
            {"id": "driver", "rddBlocks": 0},
            {"id": "6", "rddBlocks": blocks // 2},
            {"id": "7", "rddBlocks": blocks},
        ]
        answers["/api/v1/applications/app-1/executors"] = listed
        assert catching.caught(output) == []
        assert not processes.is_stopped(executor.pid)
    listed[2]["rddBlocks"] = 4
    assert [keeper.executor for keeper in application.keepers()] == ["7"]
    listed[1]["rddBlocks"] = 2
    assert [keeper.executor for keeper in application.keepers()] == ["7", "6"]
    assert catching.caught(said) == [Caught("int_tangle_depths", executor.pid)]
    assert processes.is_stopped(executor.pid)
    assert catching.caught(said) == []


ERROR = """
  Runtime Error in model int_tangle_levels (python_models/intermediate/tangles/int_tangle_levels.py)
  Python ran out of memory on a worker (MemoryError): give it more (spark.executor.pyspark.memory, where that is set
"""


@pytest.mark.parametrize(
    ("fault", "code", "said", "is_right"),
    [
        ("executor", 0, "", True),
        ("executor", 1, ERROR, False),
        ("memory", 1, ERROR, True),
        ("memory", 0, "", False),
        ("memory", 1, ERROR.replace("int_tangle_levels (", "int_tangle_causes ("), False),
        ("memory", 1, ERROR.replace("spark.executor.pyspark.memory", "something"), False),
        ("driver", -signal.SIGKILL, "", True),
        ("driver", 0, "", False),
        ("checkpoint", 0, f"10:00:00  {faults.FAULTS['checkpoint'].says}", True),
        ("checkpoint", 0, "10:00:00  int_tangle_depths: depth 1: 7 messages settled", False),
    ],
)
def test_how_a_struck_build_is_to_end(fault, code, said, is_right):
    build = SimpleNamespace(
        process=SimpleNamespace(returncode=code), said=lambda: said, name="struck", output="output.txt"
    )
    if is_right:
        faults.check_end(faults.FAULTS[fault], build, ["int_tangle_levels"])
    else:
        with pytest.raises(BuildError, match="struck: unexpected exit code"):
            faults.check_end(faults.FAULTS[fault], build, ["int_tangle_levels"])


def test_remains_of_a_build_are_listed(tmp_path):
    for place in ("made", "runs", "next__next", "made/_temporary/0", "made/.spark-staging-1", ".catalog"):
        (tmp_path / "tangles.db" / place).mkdir(parents=True)
    schema = tmp_path.resolve() / "tangles.db"
    assert tables.leftovers(tmp_path.resolve(), {"made", "a_view"}) == [
        "next__next is left over",
        f"{schema}/made/.spark-staging-1 is left over",
        f"{schema}/made/_temporary is left over",
    ]
