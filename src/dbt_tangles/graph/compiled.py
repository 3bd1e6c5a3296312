"""How kernels are compiled.

Numba keeps machine code beside the source, and looks only at that one file to see whether it is stale. A kernel
therefore calls no compiled function of another module.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from numba import njit


def compiled(function: Callable) -> Callable:
    """Compile a function on its first call, and keep the machine code on disk where that is possible.

    On a cluster the package may be imported out of a zip, or from a place nobody may write to; there is then nothing
    to keep the code beside, and it lives as long as the process.

    Args:
        function: A function on numpy arrays and scalars.

    Returns:
        The dispatcher that numba makes of it.
    """
    if Path(function.__code__.co_filename).is_file():
        try:
            return njit(cache=True)(function)
        except RuntimeError:  # No directory for the cache can be written to.
            pass
    return njit(function)
