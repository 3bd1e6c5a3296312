"""The exit code and output of `tests/run.sh` for given results of its sessions of pytest."""

import subprocess

import pytest

from conftest import ROOT

# Replaces pytest: it finds its session from its arguments, and `fails` names the failing session.
PYTEST = """#!/usr/bin/env bash
place=$(basename "$PWD")
case "$place ${TANGLES_TEST_ENGINE-}${DBT_SPARK_PYTHON_TEST_ENGINE-} $*" in
  "plugin sail"*) session=plugin-sail ;;
  "plugin iceberg"*) session=formats ;;
  plugin*) session=plugin-spark ;;
  *" sail "*" tests/python/test_docs.py"*) session=sail-shared ;;
  *" sail "*" tests/python/test_build.py"*) session=sail-odd ;;
  *" sail "*" tests/python/test_feeds.py"*) session=sail-even ;;
  *" sail "*) session=benches ;;
  *--ignore-glob*) session=no-engine ;;
  *) session=spark ;;
esac
echo "$session ran"
echo "$session: $*" >> asked
if [ "$(cat %s)" != "$session" ]; then echo "1 passed"; exit 0; fi
echo "FAILED test_$session.py::test_it - it is told to"
echo "1 failed"
exit 1
"""

# Replaces the script that gets the jars of Iceberg and Delta Lake and runs the plugin's tests.
FORMATS = """#!/usr/bin/env bash
cd plugin && DBT_SPARK_PYTHON_TEST_ENGINE=iceberg ../.venv/bin/pytest "$@"
"""

FILES = ("test_build.py", "test_docs.py", "test_feeds.py", "test_bench.py")


@pytest.fixture
def answer(tmp_path):
    """Return a function that runs the script with a pytest that fails in one session: (exit code, printed lines)."""
    fails = tmp_path / "fails"
    for folder in ("python", "formats"):
        (tmp_path / "tests" / folder).mkdir(parents=True)
    for name in FILES:
        (tmp_path / "tests" / "python" / name).touch()
    (tmp_path / "tests" / "python" / "test_docs.py").write_text("def test_pages(tmp_path, fixtures):\n    pass\n")
    (tmp_path / "plugin").mkdir()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name, text in {
        "tests/run.sh": (ROOT / "tests" / "run.sh").read_text(),
        "tests/formats/run.sh": FORMATS,
        ".venv/bin/pytest": PYTEST % fails,
        ".venv/bin/python": "#!/usr/bin/env bash\nexit 0\n",
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)

    def run(failing: str, *given: str) -> tuple[int, list[str]]:
        fails.write_text(failing)
        # A calling process, as make would be: a signal that the script sends by mistake ends this process.
        caller = ["bash", "-c", "tests/run.sh $*; code=$?; echo still here; exit $code", "bash", *given]
        done = subprocess.run(caller, cwd=tmp_path, capture_output=True, text=True, timeout=60, start_new_session=True)
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()

    return run


# The script's names of sessions, and those of the replacement of pytest.
SESSIONS = {
    "odd_on_sail": "sail-odd",
    "plugin_on_spark": "plugin-spark",
    "even_on_sail": "sail-even",
    "on_spark": "spark",
    "shared_on_sail": "sail-shared",
    "on_formats": "formats",
    "without_engine": "no-engine",
    "plugin_on_sail": "plugin-sail",
    "of_benches": "benches",
}


def ends(failing: str) -> list[str]:
    """Return the printed result of each session."""
    return [f"{name}: 1 {'failed' if session == failing else 'passed'}" for name, session in SESSIONS.items()]


def test_sessions_that_pass(answer):
    """Each session runs once, in one of the lanes, and the caller goes on."""
    code, printed = answer("no session")
    assert code == 0
    assert sorted(line for line in printed if line.endswith(" ran")) == sorted(f"{s} ran" for s in SESSIONS.values())
    assert printed[-len(SESSIONS) - 1 :] == [*ends("no session"), "still here"]


@pytest.mark.parametrize("session", SESSIONS.values())
def test_one_failure_is_the_answer(answer, session):
    """The failed test is printed last, independent of its session."""
    code, printed = answer(session)
    assert code == 1
    named = f"FAILED test_{session}.py::test_it - it is told to"
    assert printed[-len(SESSIONS) - 2 :] == [*ends(session), named, "still here"]


def test_all_leaves_out_no_test(answer, tmp_path):
    """With `all`, sessions include exhaustive tests, properties are searched further, and Spark has more tests."""
    for given in ([], ["all"]):
        for asked in tmp_path.rglob("asked"):
            asked.unlink()
        assert answer("no session", *given)[0] == 0
        asked = [line for path in tmp_path.rglob("asked") for line in path.read_text().splitlines()]
        assert len(asked) == len(SESSIONS)
        of_project = {"sail-shared", "sail-odd", "sail-even", "spark", "no-engine", "benches"}
        leaving_out = {line.partition(":")[0] for line in asked if "not exhaustive" in line}
        assert leaving_out == (set() if given else of_project)
        profile = f"--hypothesis-profile={'exhaustive' if given else 'quick'}"
        assert {line.partition(":")[0] for line in asked if profile in line} == of_project
        spark = next(line for line in asked if line.startswith("spark:"))
        assert ("both_at_length" in spark) == bool(given)
        (plugin,) = (line for line in asked if line.startswith("plugin-spark:"))
        assert ("not spark_at_length" in plugin) == (not given)
        assert f"formats: {' '.join(given)}" in asked
        assert all(name in spark for name in FILES)
