"""Reports the kernels that any process of this machine is compiling."""

import fcntl
from pathlib import Path

from dbt_tangles.kernel_runtime.machine_code import CODE, LOCK, cache_folder

_PACKAGE = Path(__file__).parent.parent


def compiling_line(since: float) -> str | None:
    """Report how many kernels were compiled since a time, and the names of those being compiled now.

    Args:
        since: Seconds since 1970.

    Returns:
        The text, if a kernel is being compiled.
    """
    folders = [file.parent for file in _PACKAGE.rglob("__init__.py")]
    places = {place for place in map(cache_folder, map(str, folders)) if place}
    now = sorted({_kernel(file) for place in places for file in place.glob(f"*{LOCK}") if _is_held(file)})
    if not now:
        return None
    done = sum(file.stat().st_mtime >= since for place in places for file in place.glob(f"*{CODE}"))
    return f"compiling kernels, once a machine: {done} done, now {', '.join(now)}"


def _kernel(file: Path) -> str:
    """Extract the kernel's name from a file name, `module.kernel-package.…`."""
    return file.name.partition("-")[0].rpartition(".")[2]


def _is_held(turn: Path) -> bool:
    """Whether a process holds a lock on the file. A process that died may have left the file unlocked."""
    try:
        with turn.open("rb") as opened:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False
