"""How kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable

from numba import njit
from numba.core import config

from dbt_tangles.lending import Borrower
from dbt_tangles.machine_code import MachineCode


def compiled(function: Callable) -> Callable:
    """Compile a function on its first call, and keep the machine code on disk where that is possible.

    Compiled functions may call those of other modules: what is kept counts only for the very sources it was made of.

    Args:
        function: A function on numpy arrays and scalars.

    Returns:
        The dispatcher that numba makes of it; the function itself where numba is told not to compile.
    """
    # Where several tasks share a process, as they do in Sail's, the others go on meanwhile.
    dispatcher = njit(function, nogil=True)
    if dispatcher is not function:
        dispatcher._cache = MachineCode.of(function) or dispatcher._cache
    return dispatcher


def inner(function: Callable) -> Callable:
    """Compile a function for kernels alone: it is kept with them, and nothing is made that Python could call.

    Args:
        function: A function on numpy arrays, tuples of them and scalars, which are lent to it. It returns no array.

    Returns:
        What kernels call; the function itself where numba is told not to compile.
    """
    if config.DISABLE_JIT:
        return function
    return Borrower(function, targetoptions={"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True})
