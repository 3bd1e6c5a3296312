"""Runs one command of action.yml: for at most MINUTES, and while the runner takes no line as a workflow command.

    MINUTES=30 python3 .ci/action_step.py tangles build …
    MINUTES=30 python3 .ci/action_step.py --annotations tangles lint --format github …

Output may hold texts of a log, and the runner obeys lines such as `::add-path::…`. It ignores them between
`::stop-commands::TOKEN` and `::TOKEN::`. With --annotations, the standard output of the command is printed after that,
because it consists of commands.
"""

import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

BIN = Path(__file__).resolve().parent.parent / ".venv" / "bin"
TIMED_OUT = 124


def main(words: list[str]) -> int:
    """Run a command; return its exit code, or 124 after MINUTES."""
    has_annotations = words[:1] == ["--annotations"]
    with tempfile.TemporaryFile() as annotations:
        token = secrets.token_hex(32)
        print(f"::stop-commands::{token}", flush=True)
        try:
            code = run(words[has_annotations:], annotations.fileno() if has_annotations else None)
        finally:
            print(f"::{token}::", flush=True)
        annotations.seek(0)
        sys.stdout.buffer.write(annotations.read())
    if code == TIMED_OUT:
        print(f"::error::tangles: stopped after {os.environ['MINUTES']} minutes; raise timeout-minutes of the action")
    return code


def run(command: list[str], output: int | None) -> int:
    """Run a command; both of its streams go to the standard output, so that their order is known."""
    try:
        seconds = 60 * float(os.environ["MINUTES"])
    except ValueError:
        print("tangles: timeout-minutes of the action is not a number", flush=True)
        return 2
    path = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    try:
        done = subprocess.run(
            command,
            stdout=output,
            stderr=sys.stdout.fileno(),
            env=os.environ | path,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
