"""The programs that build on a cluster and let things fail there, as far as that needs no Spark."""

import json
import os
import subprocess
import sys
from dataclasses import asdict

import pytest

from bench.cluster import __main__ as demo
from bench.cluster import faults, servers, strikes
from bench.cluster.strikes import Strike
from dbt_spark_python.packages import zip_package


@pytest.mark.parametrize("program", [demo, faults])
@pytest.mark.parametrize(
    ("arguments", "said"), [(["pigeon"], "'pigeon'; there are "), (["--log", "/nowhere"], "there is no file /nowhere")]
)
def test_what_cannot_be_run_is_refused(program, arguments, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        program.main(arguments)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_a_target_that_this_environment_cannot_build_on(monkeypatch, capsys):
    """It is left out with what to install; asked for by name, it fails."""
    monkeypatch.setitem(demo.NEEDS, "thrift", {"no_such_module": "thrift", "sys": "connect"})
    monkeypatch.setattr(demo, "demonstrate", lambda targets, options: 0)
    assert demo.main(["thrift"]) == 1
    assert "thrift: left out, as this environment cannot: make servers, or pip install 'dbt-tangles[thrift]'" in (
        capsys.readouterr().out
    )
    monkeypatch.setattr(demo, "demonstrate", lambda targets, options: 1)
    assert demo.main(["cluster"]) == 1
    monkeypatch.setattr(demo, "demonstrate", lambda targets, options: 0)
    assert demo.main(["cluster"]) == 0


COUNT = """
import sys

sys.path.insert(0, sys.argv[1])
from carried.counts import numbers

for most in (0, 3, 3):
    given = []
    try:
        for number in numbers(most):
            given.append(number)
    except MemoryError:
        given.append("struck")
    print(given)
"""


def test_a_strike_falls_once_in_the_middle_of_a_function(tmp_path, monkeypatch):
    """Of a package that came as a zip file, as on a cluster."""
    (tmp_path / "carried").mkdir()
    (tmp_path / "carried" / "__init__.py").write_text("")
    (tmp_path / "carried" / "first.py").write_text("zero = 0\n")
    counts = "from carried.first import zero\n\ndef numbers(most):\n    yield from range(zero, most)\n"
    (tmp_path / "carried" / "counts.py").write_text(counts)
    mark = tmp_path / "mark"
    strike = asdict(Strike("carried.counts", "numbers", "out_of_memory")) | {"mark": str(mark)}
    monkeypatch.syspath_prepend(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(strikes.INJECT), "TANGLES_STRIKES": json.dumps([strike])}
    done = subprocess.run(
        [sys.executable, "-c", COUNT, str(zip_package("carried"))],
        env=environment,
        capture_output=True,
        text=True,
        cwd="/",
        check=True,
    )
    assert done.stdout.splitlines() == ["[]", "[0, 'struck']", "[0, 1, 2]"]
    assert mark.exists()


def test_how_tasks_ended(tmp_path):
    """By what Spark writes down."""
    (tmp_path / "events").mkdir()
    ends = [("Success", False), ("Success", True), ("ExecutorLostFailure", False), ("FetchFailed", False)]
    events = [{"Event": "SparkListenerApplicationStart"}] + [
        {"Event": "SparkListenerTaskEnd", "Task End Reason": {"Reason": reason}, "Task Info": {"Speculative": is_copy}}
        for reason, is_copy in ends
    ]
    lines = [json.dumps(event, separators=(",", ":")) for event in events]
    (tmp_path / "events" / "app").write_text("\n".join(lines) + "\n")
    assert strikes.task_ends(tmp_path) == {"ExecutorLostFailure": 1, "FetchFailed": 1, "Speculative": 1}


def test_processes_are_found_by_their_mark():
    """Also those that are in a group of their own."""
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"],
        env={**os.environ, servers.MARK: "here"},
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    assert servers.marked("here") == [child.pid]
    servers.end([child])
    assert servers.marked("here") == []
