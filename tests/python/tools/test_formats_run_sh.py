"""The exit code, output and commands of `tests/formats/run.sh`, with replacements of Python, Java and Maven."""

import os
import subprocess

import pytest

from conftest import ROOT

# Replaces Python: it makes environments of itself, and notes runs of pytest and nights; `fails` names a failing one.
PYTHON = """#!/usr/bin/env bash
case "$*" in
  "-m venv"*) mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
  *sysconfig*) echo "$(dirname "$(dirname "$0")")" ;;
  "-m tests.cluster"*) echo "nights $TANGLES_JARS $*" >> {asked}; ! grep -q nights {fails} ;;
  "-m pip"*store*) ! grep -q packages {fails} ;;
  "-m pytest"*)
    name=${{DBT_SPARK_PYTHON_TEST_ENGINE-store}}
    case "$*" in *" tests/formats"*) name=$TANGLES_TARGET-rows ;; esac
    echo "$name $DBT_SPARK_PYTHON_TEST_JARS$TANGLES_JARS $MOTO_SERVER$DBT_SPARK_PYTHON_TEST_CATALOG" >> {asked}
    ! grep -q "$name" {fails} ;;
esac
"""

# Replaces Maven: it writes the jars.
MAVEN = """#!/usr/bin/env bash
grep -q maven {fails} && exit 1
words=$*
place=${{words##*-DoutputDirectory=}}
mkdir -p "$place"
case "$*" in
  *copy-dependencies*) grep -q "${{place##*/}}" {fails} && exit 1; echo 1 | tee "$place/a.jar" > "$place/b.jar" ;;
  *) IFS=' :' read -r _ _ _ _ _ name version _ <<< "$words"; echo 1 > "$place/$name-$version.jar" ;;
esac
"""

# Replaces Java, which runs a REST catalog.
JAVA = """#!/usr/bin/env bash
if [ "$1" = --list-modules ]; then
  grep -q compiler {fails} || echo jdk.compiler@17
  exit
fi
grep -q java {fails} && exit 1
echo http://127.0.0.1:9/
exec sleep 60
"""


@pytest.fixture
def answer(tmp_path):
    """Return a function that runs the script while some parts fail: (exit code, printed lines, runs of pytest)."""
    fails, asked = tmp_path / "fails", tmp_path / "asked"
    files = {
        "tests/formats/run.sh": (ROOT / "tests" / "formats" / "run.sh").read_text(),
        "tests/object_store/requirements.lock": "moto",
        "tests/object_store/pom.xml": "<project>",
        "tests/formats/rest_catalog/pom.xml": "<project>",
        "requirements-formats.lock": "pyspark==4",
        "plugin/tests/test_nights.py": "",
        ".venv/bin/python": PYTHON.format(fails=fails, asked=asked),
        "bin/mvn": MAVEN.format(fails=fails),
        "bin/java": JAVA.format(fails=fails),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)

    def run(failing: str, *given: str, **environment: str) -> tuple[int, list[str], list[list[str]]]:
        fails.write_text(failing)
        asked.write_text("")
        unset = {name: value for name, value in os.environ.items() if not name.startswith("TANGLES_")}
        environment = {**unset, "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", **environment}
        command = ["tests/formats/run.sh", *given]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines(), [line.split(" ") for line in asked.read_text().splitlines()]

    return run


SESSIONS = ["iceberg", "iceberg-rows", "delta", "delta-rows", "rest", "store"]


def test_each_session_runs_with_its_jars(answer, tmp_path):
    for _ in range(2):  # the second time, all files are there
        code, printed, asked = answer("")
        assert (code, printed) == (0, [])
        assert [name for name, *_ in asked] == SESSIONS
        jars = {name: [path.rpartition("/")[2] for path in paths.split(",")] for name, paths, _ in asked}
        assert [len(jars["iceberg"]), len(jars["delta"])] == [1, 2]
        assert [jars["iceberg-rows"], jars["delta-rows"]] == [jars["iceberg"], jars["delta"]]
        assert jars["rest"] == jars["iceberg"]
        assert asked[-2][2] == "http://127.0.0.1:9/"
        assert jars["store"] == [*jars["iceberg"], "a.jar", "b.jar"]
        assert asked[-1][2] == str(tmp_path / "target" / "formats" / "store" / "bin" / "moto_server")


@pytest.mark.parametrize("session", SESSIONS)
def test_a_failed_session_fails_the_script(answer, session):
    code, _, asked = answer(session)
    assert code == 1 and [name for name, *_ in asked] == SESSIONS


@pytest.mark.parametrize(
    ("missing", "said", "sessions"),
    [
        ("maven", "left out the tests on Iceberg and Delta Lake: Maven does not answer", 0),
        ("catalog", "left out the tests on a REST catalog: Maven does not answer", 5),
        ("s3a", "left out the tests on an object store: a package index or Maven does not answer", 5),
        ("packages", "left out the tests on an object store: a package index or Maven does not answer", 5),
    ],
)
def test_missing_files_leave_out_tests_unless_they_are_required(answer, missing, said, sessions):
    code, printed, asked = answer(missing)
    assert code == 0 and len(asked) == sessions
    assert [line.startswith(said) for line in printed] == [True]
    assert answer(missing, TANGLES_REQUIRE_JARS="1")[0] == 1


def test_a_java_without_compiler_leaves_out_the_catalog(answer):
    code, printed, asked = answer("compiler", TANGLES_REQUIRE_JARS="1")
    assert code == 0 and len(asked) == 5
    assert printed == ["left out the tests on a REST catalog: java has no compiler; install a JDK"]


def test_a_catalog_that_does_not_start_fails_the_script(answer):
    code, printed, asked = answer("java")
    assert code == 1 and len(asked) == 5
    assert [line.startswith("the REST catalog does not start") for line in printed] == [True]


@pytest.mark.parametrize("failing", ["", "nights"])
def test_nights_on_a_cluster_run_instead_of_tests(answer, failing):
    code, printed, ((name, jars, *words),) = answer(failing, "nights", "machine", "--lines", "9")
    assert (name, code, printed) == ("nights", bool(failing), [])
    of_formats = [path.rpartition("/")[2].partition("-4")[0].partition("-r")[0] for path in jars.split(",")]
    assert of_formats == ["iceberg-spark", "delta-spark_4.1_2.13", "delta-storage"]
    assert words == ["-m", "tests.cluster", "nights", "machine", "--lines", "9"]


def test_an_unknown_argument_runs_no_test(answer):
    assert answer("", "nigths") == (2, [], [])
