"""Formats paths and commands for messages, so that they can be pasted into the shell that started dbt."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path


def shown_path(path: Path) -> str:
    """Shorten a path for that shell: relative if it is below the shell's folder."""
    path, here = path.absolute(), _shell_folder()
    return str(path.relative_to(here)) if here is not None and path.is_relative_to(here) else str(path)


def shown_command(words: Sequence[str]) -> str:
    """Quote a command of this Python's environment; its path is added if the PATH does not lead to it."""
    program = Path(sys.executable).parent / words[0]
    found = shutil.which(words[0])
    is_on_path = found is not None and os.path.realpath(found) == os.path.realpath(program)
    first = words[0] if is_on_path or not program.exists() else shown_path(program)
    return shlex.join([first, *words[1:]])


def _shell_folder() -> Path | None:
    """Return the shell's current folder; None if dbt has changed its own, which makes relative paths ambiguous."""
    given = os.environ.get("PWD")
    here = Path(given) if given else Path.cwd()
    return here if here.exists() and here.samefile(Path.cwd()) else None
