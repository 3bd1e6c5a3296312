"""How kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable

from numba import njit

from dbt_tangles.machine_code import MachineCode


def compiled(function: Callable) -> Callable:
    """Compile a function on its first call, and keep the machine code on disk where that is possible.

    Compiled functions may call those of other modules: what is kept counts only for the very sources it was made of.

    Args:
        function: A function on numpy arrays and scalars.

    Returns:
        The dispatcher that numba makes of it; the function itself where numba is told not to compile.
    """
    # Said outright, since a function is otherwise compiled as the one is that calls it first.
    return _kept(njit(_nrt=True)(function), function)


def inner(function: Callable) -> Callable:
    """Compile a function that kernels call often: it makes no arrays and returns none.

    Arrays that it is handed, also in tuples, are then not counted: numba counts up and down for each of them otherwise,
    which may take longer than all else in a small function.

    Args:
        function: A function on numpy arrays and scalars that returns nothing or scalars.

    Returns:
        As `compiled`.
    """
    return _kept(njit(_nrt=False)(function), function)


def _kept(dispatcher: Callable, function: Callable) -> Callable:
    if dispatcher is not function:
        dispatcher._cache = MachineCode.of(function) or dispatcher._cache
    return dispatcher
