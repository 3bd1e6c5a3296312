"""The program that builds on a cluster, as far as that needs no Spark."""

import os
import subprocess
import sys

import pytest

from bench.cluster import __main__ as demo
from bench.cluster import servers


@pytest.mark.parametrize(
    ("arguments", "said"), [(["pigeon"], "'pigeon'; there are "), (["--log", "/nowhere"], "there is no file /nowhere")]
)
def test_what_cannot_be_run_is_refused(arguments, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        demo.main(arguments)
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
