"""What the commands of benchmarks and of clusters have in common."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Collection, Iterable


def check_names(parser: argparse.ArgumentParser, kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Refuse names of what is not there, with exit code 2."""
    for name in names:
        if name not in known:
            parser.error(f"no {kind} is called {name!r}; there are {', '.join(known)}")


def run_guarded(who: str, work: Callable[[], int], errors: tuple[type[Exception], ...]) -> int:
    """Run what starts other processes, so that these are ended however it ends.

    Args:
        who: Begins what is said of errors.
        work: Returns an exit code.
        errors: What is said in a line.

    Returns:
        That exit code; 1 after an error, 130 after an interrupt.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    try:
        return work()
    except errors as error:
        print(f"{who}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{who}: interrupted", file=sys.stderr)
        return 130
