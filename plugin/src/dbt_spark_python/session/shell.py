"""Formats paths and commands for messages, so that they can be pasted into the shell that started dbt."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path


def shown_path(path: Path) -> str:
    """Shorten a path below the folder of that shell, unless dbt has changed its own folder."""
    path, here = path.absolute(), Path(os.environ.get("PWD") or Path.cwd())
    is_here = path.is_relative_to(here) and here.samefile(Path.cwd())
    return str(path.relative_to(here) if is_here else path)


def shown_command(words: Sequence[str]) -> str:
    """Quote a command of this Python's environment; its path is added if the PATH does not lead to it."""
    program = Path(sys.executable).parent / words[0]
    found = shutil.which(words[0])
    is_on_path = found is not None and os.path.realpath(found) == os.path.realpath(program)
    first = words[0] if is_on_path or not program.exists() else shown_path(program)
    return shlex.join([first, *words[1:]])
