"""Runs one command of action.yml: for at most MINUTES, and while the runner takes no line as a workflow command.

    MINUTES=30 python3 .ci/action_step.py tangles build …
    MINUTES=30 python3 .ci/action_step.py --annotations tangles lint --format github …

Output may hold texts of a log, and the runner obeys lines such as `::add-path::…`. It ignores them between
`::stop-commands::TOKEN` and `::TOKEN::`. With --annotations, the standard output of the command is printed after that,
because it consists of commands.
"""

import os
import secrets
import signal
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
    seconds = read_seconds(os.environ["MINUTES"])
    if seconds is None:
        print("tangles: timeout-minutes of the action is no number of minutes; give one such as 30", flush=True)
        return 2
    env = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    streams = {"stdout": output, "stderr": sys.stdout.fileno()}
    # The processes that the command starts are in its session, and end with it.
    with subprocess.Popen(command, env=env, start_new_session=True, **streams) as process:
        try:
            code = process.wait(seconds)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return TIMED_OUT
    return code if code >= 0 else 128 - code


def read_seconds(minutes: str) -> float | None:
    """Convert minutes to seconds; None if the text is no number, or not a possible one."""
    try:
        seconds = 60 * float(minutes)
    except ValueError:
        return None
    return seconds if 0 < seconds < 1e9 else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
