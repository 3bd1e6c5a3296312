"""The command loads no slow modules, so that answers appear at once."""

import json
import subprocess
import sys
import time

import pytest

import cli_story as story
from conftest import DATA

SLOW = ["dbt", "matplotlib", "numba", "numpy", "pandas", "pyarrow", "pyspark"]
PROGRAM = """
import sys
from dbt_tangles.cli.cli import main
try:
    main(sys.argv[1:])
finally:
    print(*sorted(name for name in {slow!r} if name in sys.modules), file=sys.stderr)
"""


def run(slow: list[str], *words: str, cwd) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", PROGRAM.format(slow=slow), *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["why", story.B2],
        ["why", "--json", "a.jsonl:1"],
        ["status", "--fail-on", "forks"],
        ["status", "--json"],
        ["show", story.ROOT, "--format", "dot"],
        ["check", "answers.jsonl"],
        ["check", "--json", "answers.jsonl"],
        ["send", "--clock"],
        ["sql", "--json", "select * from feeds"],
        ["sql", "from feeds", "--format", "csv"],
    ],
    ids=" ".join,
)
def test_commands_import_only_the_modules_that_they_need(tmp_path, words):
    warehouse = story.write(tmp_path / "wh")
    (tmp_path / "answers.jsonl").write_text(json.dumps({"feed": story.ALICE, "sequence": 9}))
    slow = [*SLOW, "rich"] if "--json" in words else SLOW
    place = ["--warehouse", str(warehouse.root)]
    if words[0].startswith("-"):
        slow, place = [*SLOW, "duckdb", "rich", "yaml"], []
    done = run(slow, words[0], *place, *words[1:], cwd=tmp_path)
    assert done.returncode in (0, 1) and done.stderr.split() == [], done.stderr


def test_a_small_log_takes_a_moment(tmp_path):
    """24 lines need neither dbt nor an engine nor a compiler; the limit is generous for a busy machine."""
    with (DATA / "ssb" / "small.jsonl").open("rb") as file:
        (tmp_path / "log.jsonl").write_bytes(b"".join(next(file) for _ in range(24)))
    begin = time.monotonic()
    done = run(["dbt", "numba", "pyspark", "rich"], "lint", "log.jsonl", "--format", "sarif", cwd=tmp_path)
    assert done.returncode == 1 and done.stderr == "24 lines: 2 findings\n\n"
    assert time.monotonic() - begin < 5
