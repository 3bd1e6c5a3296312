"""Makes each fault of decision 020 in a copy of the repository, and runs the test that is to catch it.

`mutants.json` has the edits that make the faults. `python -m tests.mutants 3 17` makes the faults 3 and 17 of the list,
and `python -m tests.mutants` all of them. Exit code 1: a fault was not caught.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DECISION = ROOT / "docs" / "adr" / "020-tests.md"
EDITS = ROOT / "tests" / "mutants.json"
_PYTEST = [ROOT / ".venv" / "bin" / "pytest", "-x", "-m", "not long", "-p", "no:cacheprovider"]


def listed() -> dict[int, dict[str, str]]:
    """Return the faults by number: the file, its old and new text, and the test that catches the fault."""
    caught_by = dict(re.findall(r"^(\d+)\. .+: `(\S+)`$", DECISION.read_text(), re.M))
    edits = json.loads(EDITS.read_text())
    if [str(edit["number"]) for edit in edits] != [*caught_by]:
        raise ValueError(f"{DECISION.name} and {EDITS.name} must have the same numbers")
    return {edit["number"]: edit | {"caught_by": caught_by[str(edit["number"])]} for edit in edits}


def copy_of_the_repository(folder: Path) -> Path:
    """Copy the files of the work tree that git knows."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(
        ["cp", "--parents", "-t", folder, "--", *filter(None, names.decode().split("\0"))], cwd=ROOT, check=True
    )
    (folder / ".venv").symlink_to(ROOT / ".venv")
    return folder


def make(fault: dict[str, str], copy: Path) -> None:
    """Replace the text of a fault, which the file must have once."""
    path = copy / fault["file"]
    text = path.read_text()
    if text.count(fault["old"]) != 1:
        raise ValueError(f"{fault['file']} must have once: {fault['old']}")
    path.write_text(text.replace(fault["old"], fault["new"]))


def failed_test(copy: Path, test: str) -> str | None:
    """Run a test in the copy; return the name of the test if it failed."""
    folder = "plugin" if test.startswith("plugin/") else ""
    environment = os.environ | {"PYTHONPATH": f"{copy / 'src'}:{copy / 'plugin' / 'src'}:{copy}"}
    environment |= {"TANGLES_TEST_ENGINE": "sail", "DBT_SPARK_PYTHON_TEST_ENGINE": "sail"}
    command = [*_PYTEST, test.removeprefix("plugin/")]
    ran = subprocess.run(command, cwd=copy / folder, env=environment, capture_output=True, text=True)
    if found := re.search(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.M):
        return found[1]
    if ran.returncode != 0:
        raise RuntimeError(ran.stdout[-2000:] + ran.stderr[-2000:])
    return None


def main(numbers: list[int]) -> int:
    """Make the faults with these numbers, or all; print the test that catches each."""
    faults = listed()
    chosen = numbers or [*faults]
    caught = 0
    for number in chosen:
        with tempfile.TemporaryDirectory() as folder:
            copy = copy_of_the_repository(Path(folder))
            make(faults[number], copy)
            test = failed_test(copy, faults[number]["caught_by"])
        caught += test is not None
        print(f"{number:2} {faults[number]['file']}: {test or 'NOT CAUGHT'}", flush=True)
    print(f"{caught} of {len(chosen)} faults are caught")
    return int(caught < len(chosen))


if __name__ == "__main__":
    sys.exit(main([int(number) for number in sys.argv[1:]]))
