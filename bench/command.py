"""Parts of a command line that the benchmarks and the cluster demonstrations share."""

import argparse
import json
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from bench.machine import ROOT


def check_names(parser: argparse.ArgumentParser, kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Refuse unknown names with exit code 2."""
    for name in names:
        if name not in known:
            parser.error(f"unknown {kind} {name!r}; choose from {', '.join(known)}")


def dbt_command(
    words: Sequence[str], target: str, target_path: Path, log_path: Path, variables: Mapping[str, object]
) -> list[str]:
    """Return the command line that runs dbt on this project, in a process of its own.

    Args:
        words: dbt's command and options.
        target: dbt's target.
        target_path: The folder for its artefacts.
        log_path: The folder for its log.
        variables: dbt vars.
    """
    folders = ["--project-dir", str(ROOT), "--profiles-dir", str(ROOT)]
    paths = ["--target-path", str(target_path), "--log-path", str(log_path)]
    options = [*folders, "--target", target, *paths, "--vars", json.dumps(dict(variables))]
    return [sys.executable, "-m", "dbt.cli.main", *words, "--no-use-colors", *options]


def run_guarded(who: str, work: Callable[[], int], errors: tuple[type[Exception], ...]) -> int:
    """Run work that starts other processes, so that they end even if it is interrupted.

    Args:
        who: The beginning of error messages.
        work: Returns an exit code.
        errors: The errors that are reported in one line.

    Returns:
        The exit code; 1 after an error, 130 after an interrupt.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the started processes are ended
    try:
        return work()
    except errors as error:
        print(f"{who}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{who}: interrupted", file=sys.stderr)
        return 130
