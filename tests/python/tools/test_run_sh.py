"""What `tests/run.sh` answers for what its four sessions of pytest answer."""

import subprocess

import pytest

from conftest import ROOT

# Stands for pytest: its name says which of the sessions it is, and `fails` which of them has a failure.
PYTEST = """#!/usr/bin/env bash
place=$(basename "$PWD")
case "$place ${TANGLES_TEST_ENGINE-}${DBT_SPARK_PYTHON_TEST_ENGINE-} $*" in
  "plugin sail"*) session=plugin-sail ;;
  plugin*) session=plugin-spark ;;
  *" sail "*) session=sail ;;
  *--ignore-glob*) session=no-engine ;;
  *) session=spark ;;
esac
echo "$session ran"
echo "$session: $*" >> asked
[ "$(cat %s)" = "$session" ] || exit 0
echo "FAILED test_$session.py::test_it - it is told to"
exit 1
"""


@pytest.fixture
def answer(tmp_path):
    """Runs the script beside a pytest that fails in one session: (exit code, what it printed)."""
    fails = tmp_path / "fails"
    (tmp_path / "tests" / "python").mkdir(parents=True)
    (tmp_path / "plugin").mkdir()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name, text in {
        "tests/run.sh": (ROOT / "tests" / "run.sh").read_text(),
        ".venv/bin/pytest": PYTEST % fails,
        ".venv/bin/python": "#!/usr/bin/env bash\nexit 0\n",
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)

    def run(failing: str, *given: str) -> tuple[int, list[str]]:
        fails.write_text(failing)
        # A caller of its own, as make is: what the script ends by mistake is this one.
        caller = ["bash", "-c", "tests/run.sh $*; code=$?; echo still here; exit $code", "bash", *given]
        done = subprocess.run(caller, cwd=tmp_path, capture_output=True, text=True, timeout=60, start_new_session=True)
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()

    return run


SESSIONS = ["sail", "plugin-sail", "spark", "plugin-spark", "no-engine"]


def test_what_passes_ends_well(answer):
    """Each session ran, nothing is named as failed, and who called goes on."""
    code, printed = answer("none of them")
    assert code == 0
    assert sorted(printed[:-1]) == sorted(f"{session} ran" for session in SESSIONS)
    assert printed[-1] == "still here"


@pytest.mark.parametrize("session", SESSIONS)
def test_one_failure_is_the_answer(answer, session):
    """Whichever session it is in, and it is named in the end."""
    code, printed = answer(session)
    assert code == 1
    assert printed[-2:] == [f"FAILED test_{session}.py::test_it - it is told to", "still here"]


def test_all_leaves_out_nothing(answer, tmp_path):
    """With `all` no session leaves out what is exhaustive, and Spark has what is of both engines at length."""
    for given in ([], ["all"]):
        for asked in tmp_path.rglob("asked"):
            asked.unlink()
        assert answer("none of them", *given)[0] == 0
        asked = [line for path in tmp_path.rglob("asked") for line in path.read_text().splitlines()]
        assert len(asked) == len(SESSIONS)
        leaving_out = {line.partition(":")[0] for line in asked if "not exhaustive" in line}
        assert leaving_out == (set() if given else {"sail", "spark", "no-engine"})
        spark = next(line for line in asked if line.startswith("spark:"))
        assert ("both_at_length" in spark) == bool(given)
