"""Paths and commands as a line of advice shows them: to be copied into the shell in which dbt was started."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path


def shown_path(path: Path) -> str:
    """Write a path as short as that shell takes it: relative where it is below the shell's folder."""
    path, here = path.absolute(), _shell_folder()
    return str(path.relative_to(here)) if here is not None and path.is_relative_to(here) else str(path)


def shown_command(words: Sequence[str]) -> str:
    """Write a command of this Python's environment, quoted; with its path where PATH leads elsewhere, or nowhere."""
    program = Path(sys.executable).parent / words[0]
    found = shutil.which(words[0])
    is_on_path = found is not None and os.path.realpath(found) == os.path.realpath(program)
    first = words[0] if is_on_path or not program.exists() else shown_path(program)
    return shlex.join([first, *words[1:]])


def _shell_folder() -> Path | None:
    """The folder in which the shell is; None where dbt has gone to another one, and nothing can be relative."""
    given = os.environ.get("PWD")
    here = Path(given) if given else Path.cwd()
    return here if here.exists() and here.samefile(Path.cwd()) else None
