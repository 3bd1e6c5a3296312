"""The benchmarks' own machinery: counting, reports and the command line. These tests neither time nor start Spark."""

import gzip
import json
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench import __main__ as command
from bench import builds, cpu, logs, model_runner, one_part, report, session
from bench.cpu import Account, Process, Spent, Watch

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="CPU seconds are read from /proc")

ROOT_ID, JVM, DAEMON, WORKER, STRANGER = (10, 1), (20, 2), (30, 3), (40, 4), (50, 5)


def tree(**changes) -> dict:
    """Return a reading of a Spark session's processes and a stranger's; `worker=None` leaves one out."""
    seen = {
        "init": ((1, 0), Process(0, "init", 500.0)),
        "driver": (ROOT_ID, Process(1, "python", 1.0)),
        "jvm": (JVM, Process(10, "java", 10.0)),
        "daemon": (DAEMON, Process(20, "python3", 0.5)),
        "worker": (WORKER, Process(30, "python3", 4.0)),
        "stranger": (STRANGER, Process(1, "java", 99.0)),
    }
    for name, process in changes.items():
        seen[name] = (seen[name][0], process)
    return {key: process for key, process in seen.values() if process is not None}


def account(*looks) -> Account:
    """Return the account after some readings."""
    sums = Account(ROOT_ID[0])
    for look in looks:
        sums.add(look)
    return sums


def test_processes_are_told_apart():
    """The kinds are the driver, the JVM, and all processes below the JVM; strangers are not counted."""
    assert account(tree()).cpu() == {"driver": 1.0, "jvm": 10.0, "workers": 4.5}


def test_a_worker_that_ends_unnoticed_is_kept():
    """PySpark's daemon ignores the end of its workers, so the kernel's counters lose their seconds."""
    sums = account(tree(), tree(worker=None))
    assert sums.cpu() == {"driver": 1.0, "jvm": 10.0, "workers": 4.5}
    sums.add(tree(worker=None, daemon=Process(20, "python3", 0.7)))
    assert sums.cpu()["workers"] == pytest.approx(4.7)


def test_an_ended_child_counts_once():
    """An ended child is in its parent's sums, with its seconds after the last reading."""
    sums = account(tree(), tree(worker=None, daemon=Process(20, "python3", 0.5, reaped=4.3)))
    assert sums.cpu()["workers"] == pytest.approx(4.8)
    sums.add(tree(worker=None, daemon=Process(20, "python3", 0.5, reaped=4.3)))
    assert sums.cpu()["workers"] == pytest.approx(4.8)


def test_a_child_that_no_look_saw_counts():
    """It started and ended between two readings, and its parent waited for it."""
    sums = account(tree(), tree(jvm=Process(10, "java", 10.0, reaped=0.25)))
    assert sums.cpu()["jvm"] == pytest.approx(10.25)


def test_the_end_of_a_whole_session_counts_once():
    """JVM, daemon and worker end between two readings, and the driver's sums include their seconds."""
    sums = account(tree(), tree(jvm=None, daemon=None, worker=None, driver=Process(1, "python", 1.0, reaped=14.6)))
    assert sum(sums.cpu().values()) == pytest.approx(15.6)
    assert sums.cpu()["jvm"] == 10.0


def test_the_end_of_a_session_after_a_worker_counts_once():
    """The daemon waited for the worker, then the rest ended."""
    waited = tree(worker=None, daemon=Process(20, "python3", 0.5, reaped=4.0))
    gone = tree(jvm=None, daemon=None, worker=None, driver=Process(1, "python", 1.0, reaped=14.5))
    assert sum(account(tree(), waited, gone).cpu().values()) == pytest.approx(15.5)


def test_an_orphan_still_counts():
    """A process gets another parent when its parent ends, and keeps its kind."""
    sums = account(tree(), tree(jvm=None, daemon=Process(1, "python3", 0.5), worker=Process(30, "python3", 5.0)))
    assert sums.cpu() == {"driver": 1.0, "jvm": 10.0, "workers": 5.5}


def test_a_number_used_again_is_another_process():
    """The kernel reuses numbers; the start time tells processes apart."""
    later = tree(worker=None)
    later[WORKER[0], 900] = Process(30, "python3", 0.1)
    assert account(tree(), later).cpu()["workers"] == pytest.approx(4.6)


def test_a_jvm_is_a_copy_of_its_parent_at_first():
    """Spark's launcher becomes java after a while; a process forked by java is called java at first."""
    launched = tree(jvm=Process(10, "python", 0.1), daemon=None, worker=None)
    sums = account(launched, tree(daemon=Process(20, "java", 0.5)))
    assert sums.cpu() == {"driver": 1.0, "jvm": 10.0, "workers": 4.5}


def test_peaks_are_of_single_processes():
    """Peaks are of one process of each kind, and of all processes together."""
    sums = account(
        tree(worker=Process(30, "python3", 1.0, resident=5, peak=9), jvm=Process(10, "java", 1.0, resident=7, peak=8)),
        tree(worker=None, daemon=Process(20, "python3", 1.0, resident=3, peak=3)),
    )
    assert (sums.peak["workers"], sums.peak["jvm"], sums.peak_resident) == (9, 8, 12)


BURN = "import time\nwhile time.process_time() < 0.3: pass\n"
IGNORED = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
burnt, says = os.pipe()
if os.fork() == 0:
    while time.process_time() < 0.3: pass
    os.write(says, b"!")
    time.sleep(1)  # to be looked at
    os._exit(0)
os.read(burnt, 1)
time.sleep(1.2)
"""


@linux
@pytest.mark.parametrize("script", [BURN, IGNORED], ids=["child", "ignored_grandchild"])
def test_real_processes_count(script):
    """A child counts, and so does a grandchild whose parent ignores its end."""
    with Watch(interval=0.05) as watch, watch.measure() as spent:
        subprocess.run([sys.executable, "-c", script], check=True)
    assert spent.total > 0.25
    assert spent.wall > 0
    assert watch.peaks()["driver"] > 0


def test_other_systems_are_told_why(tmp_path):
    """The error explains that /proc is missing."""
    with pytest.raises(RuntimeError, match="/proc"):
        cpu.processes(tmp_path)


def test_goals_say_whether_they_are_met():
    """A goal is met, missed, or not judged."""
    assert report.at_most("ratio", 2, 1.9).met and not report.at_most("ratio", 2, 2.1).met
    assert report.at_least("rate", 8_000, 8_000).met and not report.at_least("rate", 8_000, 7_999).met
    assert report.at_most("seconds", 90, 3, judged=False).met is None
    assert str(report.at_most("ratio", 2, 2.1)) == "ratio: 2.1 (goal: at most 2; MISSED)"


def spent(wall: float, jvm: float, workers: float) -> Spent:
    """Return the cost of a run."""
    return Spent(wall, {"driver": 0.0, "jvm": jvm, "workers": workers})


def test_summaries_are_medians_of_runs():
    """Each figure is a median by itself."""
    summed = report.summary([spent(1, 2, 5), spent(9, 4, 1), spent(3, 3, 3)])
    assert (summed["cpu_s"], summed["wall_s"]) == (6, 3)
    assert summed["cpu_s_by_process"] == {"driver": 0, "jvm": 3, "workers": 3}
    assert summed["cpu_s_of_runs"] == [7, 5, 6]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["graph"], "unknown benchmark 'graph'"),
        (["--scale", "0"], "--scale"),
        (["--scale", "2"], "--scale"),
        (["--scale", "all"], "--scale"),
        (["--repeats", "0"], "--repeats"),
        (["--inputs", "large"], "--inputs"),
        (["--log", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--peer-log", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--engines", "duckdb"], "--engines"),
        (["--fast"], "--fast"),
    ],
)
def test_wrong_usage_is_refused(arguments, complaint, capsys):
    """The exit code is 2, and the message names the error."""
    with pytest.raises(SystemExit) as stopped:
        command.main(arguments)
    assert stopped.value.code == 2
    assert complaint in capsys.readouterr().err


def test_all_benchmarks_run_by_default():
    """Without names, all benchmarks run except those by name; a repeated name counts once."""
    assert command.parse([]).names == ["graphs", "limit", "verify", "builds", "timelines", "sets", "autobase", "ask"]
    assert command.parse(["verify", "graphs", "verify"]).names == ["verify", "graphs"]


def test_the_peers_log_is_built_on_demand(tmp_path):
    """Its build takes minutes."""
    log = tmp_path / "log.jsonl"
    log.touch()
    assert command.parse([]).inputs == ["fixtures", "medium"]
    assert command.parse(["--inputs", "medium"]).inputs == ["medium"]
    options = command.parse(["--peer-log", str(log)])
    assert options.inputs == ["fixtures", "medium", "peer"]
    assert [builds.log_of(name, options) for name in options.inputs] == [None, builds.MEDIUM, log]


@linux
@pytest.mark.parametrize(("ends", "code"), [((0, 0), 0), ((1, 0), 1)])
def test_one_failure_stops_no_other(ends, code, monkeypatch, capsys):
    """Every benchmark has a process of its own; the exit code says whether one failed."""
    started = []

    class FakeProcess:
        def __init__(self, target, args):
            self.name = args[0], args[1].engine
            self.exitcode = None

        def start(self):
            started.append(self.name)

        def join(self):
            self.exitcode = ends[len(started) - 1]

    class Context:
        Process = FakeProcess

    monkeypatch.setattr(command.multiprocessing, "get_context", lambda method: Context)
    monkeypatch.setattr(command.page, "write", lambda **options: Path("page"))
    assert command.main(["graphs", "verify"]) == code
    assert started == [("graphs", "spark"), ("verify", "spark")]
    assert ("graphs" in capsys.readouterr().err) == bool(code)


@linux
def test_engines_take_turns(monkeypatch):
    """Each benchmark runs on one engine, then on the other; parts for one engine run once."""
    started = []
    monkeypatch.setattr(command, "run_apart", lambda name, options: started.append((name, options.engine)) or True)
    monkeypatch.setattr(command.page, "write", lambda **options: Path("page"))
    assert command.main(["verify", "ask", "limit", "--engines", "sail", "spark"]) == 0
    turns = [("verify", "sail"), ("verify", "spark"), ("ask", "spark"), ("limit", "sail"), ("limit", "spark")]
    assert started == turns


def stub(monkeypatch, run) -> None:
    """Put a benchmark in the place of `graphs`."""
    module = ModuleType("bench.graphs")
    module.run = run
    monkeypatch.setitem(sys.modules, "bench.graphs", module)


def of_engine(engine: str) -> Namespace:
    """Return the options of a benchmark."""
    return Namespace(scale=1.0, repeats=3, engine=engine)


def test_a_missed_goal_is_reported_and_no_failure(monkeypatch, tmp_path, capsys):
    """The missed goal is in the report and on the screen."""
    stub(monkeypatch, lambda options: ([{"ratio": 3}], [report.at_most("ratio", 2, 3)]))
    monkeypatch.setattr(report, "FIGURES", tmp_path)
    one_part.run_or_explain("graphs", of_engine("spark"))
    assert json.loads((tmp_path / "graphs.json").read_text())["goals"][0]["met"] is False
    assert "MISSED" in capsys.readouterr().out


def test_a_failed_benchmark_ends_with_one(monkeypatch, tmp_path, capsys):
    """The failure is explained, and figures are not written."""

    def run(options):
        raise RuntimeError("no luck")

    stub(monkeypatch, run)
    monkeypatch.setattr(report, "FIGURES", tmp_path)
    with pytest.raises(SystemExit) as stopped:
        one_part.run_or_explain("graphs", of_engine("sail"))
    assert stopped.value.code == 1
    assert "no luck" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["graphs-sail-failed.json"]
    assert json.loads((tmp_path / "graphs-sail-failed.json").read_text())["error"] == "RuntimeError: no luck"


def test_a_process_that_is_killed_is_written_down(monkeypatch, tmp_path):
    """A process that ends without a report is recorded as a failure."""

    class Killed:
        Process = None

        def __init__(self, target, args):
            self.exitcode = -9

        start = join = lambda self: None

    Killed.Process = Killed
    monkeypatch.setattr(command.multiprocessing, "get_context", lambda method: Killed)
    monkeypatch.setattr(report, "FIGURES", tmp_path)
    assert not command.run_apart("graphs", of_engine("spark"))
    assert "-9" in json.loads((tmp_path / "graphs-failed.json").read_text())["error"]


def test_settings_are_those_of_the_profile():
    """Settings are rendered with the environment, as in dbt."""
    usual = session.settings({})
    assert usual["spark.master"] == "local[*]"
    assert not [value for value in usual.values() if "{{" in value]
    assert session.settings({"TANGLES_MASTER": "local[1]"})["spark.master"] == "local[1]"


def test_configurations_are_those_of_the_project():
    """Configurations come from the models' yml, with the vars of dbt_project.yml, and keep their types."""
    assert model_runner.configuration("int_tangle_ancestors")["ancestor_limit"] == 1000
    assert model_runner.configuration("int_tangle_ancestors", ancestor_limit=5)["ancestor_limit"] == 5
    lines = model_runner.configuration("stg_ssb__lines", ssb_log="/logs/*.jsonl")
    assert (lines["ssb_log"], lines["verify_signatures"], lines["ship_packages"]) == (
        "/logs/*.jsonl",
        True,
        ["dbt_tangles"],
    )
    with pytest.raises(KeyError, match="tangle_motor"):
        model_runner.configuration("int_tangle_levels", tangle_motor="sql")
    with pytest.raises(LookupError, match="int_tangle_lvls"):
        model_runner.configuration("int_tangle_lvls")


@pytest.mark.parametrize("model", ["int_tangle_levels", "int_set_messages", "stg_pzp__lines", "stg_ssb__lines"])
def test_models_load_without_dbt(model):
    """The benchmarks load the very files that dbt runs."""
    assert callable(model_runner.load(model).model)


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_the_head_of_a_log_is_its_first_lines(suffix, monkeypatch, tmp_path):
    """A fraction of the lines, compressed like the log; the log itself for all lines."""
    monkeypatch.setattr(logs, "FOLDER", tmp_path / "logs")
    opener = gzip.open if suffix == ".jsonl.gz" else open
    log = tmp_path / f"log{suffix}"
    with opener(log, "wb") as out:
        out.writelines(b"%d\n" % number for number in range(10))
    with opener(logs.head(log, 0.3), "rb") as lines:
        assert lines.read() == b"0\n1\n2\n"
    assert logs.head(log, 1) == log


def test_tables_of_builds_are_counted(tmp_path):
    """The rows of a table in all its files, and the bytes of all tables."""
    for number in (2, 3):
        folder = tmp_path / "ssb_messages" / f"part={number}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"message_id": ["a"] * number}), folder / "0.parquet")
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "0.parquet").write_bytes(bytes(2**20))
    assert builds.count_rows(tmp_path / "ssb_messages") == 5
    assert builds.count_rows(tmp_path / "nowhere") is None
    assert 1 <= builds.size_of(tmp_path) < 1.1
