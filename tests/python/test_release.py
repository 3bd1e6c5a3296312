"""The wheels: what is in them, one version, and a project that `tangles init` makes in an environment that has them."""

import os
import re
import shutil
import zipfile
from importlib.metadata import requires, version
from pathlib import Path

import pyarrow.dataset as ds
import pytest
import yaml
from click.testing import CliRunner
from packaging.requirements import Requirement

import dbt_spark_python
from built_wheels import build, environment, said
from conftest import ROOT
from dbt_tangles import init
from dbt_tangles.ask.cli import main


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> dict[str, Path]:
    """Both wheels."""
    return build(tmp_path_factory.mktemp("wheels"))


def names_in(wheel: Path) -> set[str]:
    """The files of a wheel."""
    return set(zipfile.ZipFile(wheel).namelist())


def test_the_version_is_said_once(wheels):
    """In dbt_project.yml; and in `runs`, whose macro cannot read it, and the starter's text does."""
    said_here = yaml.safe_load((ROOT / "dbt_project.yml").read_text())["version"]
    assert re.findall(r"return\('(.+)'\)", (ROOT / "macros" / "run" / "project_version.sql").read_text()) == [said_here]
    assert init.version() == said_here
    assert wheels["dbt_tangles"].name.startswith(f"dbt_tangles-{said_here}-")
    assert wheels["dbt_spark_python"].name.startswith(f"dbt_spark_python-{dbt_spark_python.__version__}-")
    assert version("dbt-spark-python") == dbt_spark_python.__version__
    for place in (ROOT, ROOT / "plugin"):
        assert not re.search(r"^version = ", (place / "pyproject.toml").read_text(), re.M)


def test_the_plugin_that_is_here_will_do():
    """And of dbt and Spark, what the project takes the plugin takes."""
    wanted = {r.name: r for r in map(Requirement, requires("dbt-tangles")) if not r.marker}
    assert wanted["dbt-spark-python"].specifier.contains(dbt_spark_python.__version__)
    of_plugin = {r.name: r for r in map(Requirement, requires("dbt-spark-python")) if not r.marker}
    for name in ("dbt-core", "dbt-spark", "pyspark"):
        assert of_plugin[name].specifier.contains(version(name)), name
        assert wanted[name].specifier.contains(version(name)), name


def test_the_locks_have_what_both_need():
    """And what the extras add."""
    locks = {"": "requirements", "sail": "requirements-sail", "thrift": "requirements-servers"}
    locked: set[str] = set()
    for extra, file in locks.items():
        found = set(re.findall(r"^([\w.-]+)==", (ROOT / f"{file}.lock").read_text(), re.M))
        locked = found if not extra else locked | found
        for distribution in ("dbt-tangles", "dbt-spark-python"):
            wanted = {r.name.lower() for r in map(Requirement, requires(distribution)) if needed(r, extra)}
            assert wanted - locked <= {"dbt-spark-python"}, (extra, distribution)


def needed(requirement: Requirement, extra: str) -> bool:
    """Whether a requirement counts with an extra."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def test_the_dbt_project_is_in_the_wheel(wheels):
    """All that dbt reads, and nothing of the tests."""
    names = names_in(wheels["dbt_tangles"])
    project = {name.removeprefix("dbt_tangles/project/") for name in names if name.startswith("dbt_tangles/project/")}
    folders = ("macros", "models", "python_models", "seeds", "tests/generic", "tests/singular")
    expected = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    others = {"dbt_project.yml", "profiles.yml", "tests/_tests.yml", "tests/data/ssb/small.jsonl"}
    assert project == expected | others
    assert {name for name in names if name.startswith("dbt_spark_python/")} == set()
    assert {f"dbt_tangles/starter/{name}" for name in ("dbt_project.yml", "gitignore", "packages.yml")} <= names


def test_the_plugin_is_on_its_own(wheels):
    """No word of this project, in code, tests or texts; its java can be started."""
    for path in (ROOT / "plugin").rglob("*"):
        if path.is_file() and path.suffix in (".py", ".md", ".toml", ".sh", ".yml"):
            assert "tangle" not in path.read_text().lower(), path
    java = zipfile.ZipFile(wheels["dbt_spark_python"]).getinfo("dbt_spark_python/java_home/bin/java")
    assert java.external_attr >> 16 & 0o111


README = (ROOT / "README.md").read_text()
#: What the README says to install it, line by line.
INSTALL = re.search(r"## Install it\n.*?```sh\n(.*?)```", README, re.S)[1].splitlines()


def begin(python: Path, place: Path, **instead: str) -> str:
    """Type in an environment what the README says behind `pip install`, or other lines in place of some."""
    assert INSTALL[0] == "pip install --find-links dist 'dbt-tangles[sail]'"
    lines = [line.partition("  #")[0].strip() for line in INSTALL[1:]]
    assert lines == ["tangles init forum", "cd forum", "dbt deps", "dbt build", "tangles status"]
    script = "\n".join(["set -e", *(instead.get(line.replace(" ", "_"), line) for line in lines)])
    path = f"{python.parent}:{os.environ['PATH']}"
    return said(["-c", script], place, "bash", PATH=path, TANGLES_TARGET="sail")


def check(python: Path, place: Path, answer: str) -> None:
    """See that it was the wheel's project that was built, and that its own model has rows."""
    where = Path(said(["init", "--where"], program=python.parent / "tangles").strip())
    assert where.is_relative_to(python.parents[1]) and (where / "dbt_project.yml").is_file()
    assert (place / "forum" / "dbt_packages" / "tangles").resolve() == where.resolve()
    assert "ERROR=0" in answer
    assert re.search(r"success, .*; \d+ tables are of it", answer)
    rows = ds.dataset(place / "forum" / "warehouse" / "tangles.db" / "largest_threads").to_table().to_pylist()
    assert len(rows) == 10 and rows[0]["member_count"] > 1


@pytest.mark.sail
def test_a_project_from_the_wheels(wheels, tmp_path):
    """Made, linked and built by what the wheels have."""
    python = environment(tmp_path / "environment", wheels)
    for name in ("dbt_tangles", "dbt_spark_python"):
        place = said(["-c", f"import {name}; print({name}.__file__)"], program=python).strip()
        assert Path(place).is_relative_to(tmp_path), place
    few = "dbt run --select +largest_threads"
    check(python, tmp_path, begin(python, tmp_path, dbt_build=few))


@pytest.mark.sail
@pytest.mark.exhaustive
def test_a_project_in_an_environment_with_nothing_else(wheels, tmp_path):
    """As a user installs it, with all that it needs from an index; and every model and test."""
    said(["-m", "venv", tmp_path / "environment"])
    python = tmp_path / "environment" / "bin" / "python"
    shutil.copytree(wheels["dbt_tangles"].parent, tmp_path / "dist")
    said(["-c", INSTALL[0]], tmp_path, "bash", PATH=f"{python.parent}:{os.environ['PATH']}")
    answer = begin(python, tmp_path)
    check(python, tmp_path, answer)
    assert re.search(r"PASS=[34]\d\d ", answer)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("forum", "forum"), ("My-Logs 2", "my_logs_2"), ("tangles", "my_tangles"), ("2nd", "my_2nd"), ("ü", "my")],
)
def test_the_name_of_a_project(name, expected, tmp_path):
    """One that dbt takes, made of the folder's."""
    init.make_project(tmp_path / name)
    assert yaml.safe_load((tmp_path / name / "dbt_project.yml").read_text())["name"] == expected


def test_what_init_writes(tmp_path):
    files = init.make_project(tmp_path / "a 'b' \"c\"")
    assert files == [
        ".gitignore",
        "README.md",
        "dbt_project.yml",
        "example.jsonl",
        "models/largest_threads.sql",
        "models/largest_threads.yml",
        "packages.yml",
        "profiles.yml",
    ]


def test_a_folder_that_holds_something_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / ".git").mkdir()
    said_of = [CliRunner().invoke(main, ["init", str(path)]) for path in (tmp_path, tmp_path / "notes.txt")]
    assert [result.exit_code for result in said_of] == [2, 2]
    assert f"{tmp_path} is not empty (notes.txt): name a folder" in said_of[0].output
    assert "is a file: name a folder" in said_of[1].output
    assert sorted(path.name for path in tmp_path.iterdir()) == [".git", "notes.txt"]
    (tmp_path / "notes.txt").unlink()
    assert CliRunner().invoke(main, ["init", str(tmp_path)]).exit_code == 0
    assert CliRunner().invoke(main, ["init"]).exit_code == 2
