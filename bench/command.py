"""Parts of a command line that the benchmarks and the cluster demonstrations share."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Collection, Iterable


def check_names(parser: argparse.ArgumentParser, kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Refuse unknown names with exit code 2."""
    for name in names:
        if name not in known:
            parser.error(f"unknown {kind} {name!r}; choose from {', '.join(known)}")


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
