"""The command loads no slow modules, so that answers appear at once."""

import json
import subprocess
import sys

import pytest

import cli_story as story

SLOW = ["dbt", "matplotlib", "numba", "numpy", "pandas", "pyarrow", "pyspark"]
PROGRAM = """
import sys
from dbt_tangles.cli.cli import main
try:
    main(sys.argv[1:])
finally:
    print(*sorted(name for name in {slow!r} if name in sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words",
    [
        ["why", story.B2],
        ["why", "%nobody"],
        ["why", "--line", "a.jsonl:1"],
        ["status"],
        ["show", story.ROOT],
        ["show", story.ROOT, "--format", "svg"],
        ["check", "answers.jsonl"],
        ["send", "--clock"],
        ["sql", "select * from feeds"],
        ["sql", "from feeds", "--format", "csv"],
        ["status", "--fail-on", "forks"],
    ],
    ids=" ".join,
)
def test_commands_import_only_the_modules_that_they_need(tmp_path, words):
    warehouse = story.write(tmp_path / "wh")
    (tmp_path / "answers.jsonl").write_text(json.dumps({"feed": story.ALICE, "sequence": 9}))
    has_json = words[0] in ("why", "status", "check", "sql") and "--format" not in words
    for form in ([], ["--json"]) if has_json else ([],):
        slow = [*SLOW, "rich"] if form else SLOW
        command = [sys.executable, "-c", PROGRAM.format(slow=slow), words[0], "--warehouse", str(warehouse.root)]
        done = subprocess.run([*command, *words[1:], *form], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1) and done.stderr.split() == [], done.stderr
