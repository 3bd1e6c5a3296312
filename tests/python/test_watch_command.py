"""`tangles watch` as users run it: it builds when the log grows, and says which verdicts changed."""

import json
import os
import subprocess
import sys

from answer_schemas import validate
from conftest import DATA, ENGINE


def test_a_log_that_grows(tmp_path):
    lines = (DATA / "ssb" / "small.jsonl").read_bytes().splitlines(keepends=True)
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"".join(lines[:60]))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("DBT_", "TANGLES_"))}
    engine = {"local": "spark", "sail": "sail"}[ENGINE]
    words = ["watch", "log.jsonl", "--every", "0.5", "--builds", "2", "--engine", engine, "--json"]
    command = [sys.executable, "-m", "dbt_tangles.cli.cli", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, env=clean, text=True, **pipes) as process:
        first = validate(json.loads(process.stdout.readline()))
        with log.open("ab") as file:
            file.writelines(lines[60:])
        second = validate(json.loads(process.stdout.readline()))
        _, progress = process.communicate()
    assert process.returncode == 0, progress
    assert first["changes"] is None and first["is_success"] and second["is_success"]
    found = {change["kind"]: change["count"] for change in second["changes"]}
    assert found["unblocked"] == 2 and found["forks"] == 3
    assert found["messages"] == 204 and found["ssb_rejects"] == 7
