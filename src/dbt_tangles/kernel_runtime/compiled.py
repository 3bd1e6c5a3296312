"""Decorators for kernels: small calls are interpreted, large calls run as machine code that numba makes.

A kernel is a plain function on arrays. Compiling it takes seconds; interpreting it on a small log takes milliseconds. A
call is therefore interpreted while all these conditions hold:

* this process has not run machine code of the kernel, and the cache on disk has none;
* the arrays of the arguments have at most SMALL_BYTES in total;
* interpreted calls of the kernel have taken less than BUDGET_S CPU seconds in this process.

Interpreted numbers are numpy scalars with the width of their array, while machine code computes with 64 bits. A call in
which a number overflows, or with a division by zero, starts again as machine code. Both ways give the same results.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, update_wrapper
from types import CellType, FunctionType
from typing import Any

import numba
import numpy as np
from numba.extending import is_jitted, typeof_impl

from dbt_tangles.kernel_runtime.code_cache import Locator, cache_folder, compiling

#: The environment variable that selects how kernels run, and its values; the first is the default.
TIER = "TANGLES_KERNELS"
TIERS = ("auto", "compiled", "interpreted")
#: Maximum total size of the arrays of an interpreted call: 20,000 numbers of 64 bits.
SMALL_BYTES = 160_000
#: CPU seconds for interpreted calls of one kernel in one process.
BUDGET_S = 1.0
_LOCATOR = f"{Locator.__module__}.{Locator.__name__}"


class Kernel:
    """A function called from Python, interpreted or compiled, and from other kernels."""

    def __init__(self, function: Callable) -> None:
        self.function = function
        before, numba.config.CACHE_LOCATOR_CLASSES = numba.config.CACHE_LOCATOR_CLASSES, _LOCATOR
        try:
            # Releasing the GIL lets other tasks of the same process (as in Sail) run meanwhile.
            self.dispatcher = numba.njit(nogil=True, cache=Locator.from_function(function) is not None)(function)
        finally:
            numba.config.CACHE_LOCATOR_CLASSES = before
        update_wrapper(self, function)
        self.spent_s = 0.0  # CPU seconds of interpreted calls so far

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel.

        Raises:
            ValueError: TANGLES_KERNELS has an unknown value.
        """
        tier = os.environ.get(TIER) or TIERS[0]
        if tier not in TIERS:
            raise ValueError(f"{TIER} is {tier!r}, and must be one of {', '.join(TIERS)}")
        if tier == "interpreted":
            return self.interpret(*arguments)
        if tier == "auto" and self._may_be_interpreted(arguments):
            saved, begin = [array.copy() for array in arrays_of(arguments)], time.thread_time()
            try:
                return self.interpret(*arguments)
            except ArithmeticError:
                for array, values in zip(arrays_of(arguments), saved, strict=True):
                    if array.flags.writeable:
                        array[...] = values
            finally:
                self.spent_s += time.thread_time() - begin
        return self.run_compiled(*arguments)

    def interpret(self, *arguments: Any) -> Any:
        """Run the kernel as plain Python; scalars of the result are Python's, as from machine code."""
        with np.errstate(over="raise", divide="raise"):
            return _to_python(_plain(self)(*arguments))

    def run_compiled(self, *arguments: Any) -> Any:
        """Run the kernel as machine code, which is loaded or made once per process and types."""
        types = tuple(map(numba.typeof, arguments))
        if types not in self.dispatcher.overloads:
            with compiling(self.__name__):
                for _ in range(3):  # A full disk ends the compilation of an inner kernel, and then that of this one.
                    with suppress(OSError):
                        self.dispatcher.compile(types)
                        break
        return self.dispatcher(*arguments)

    def _may_be_interpreted(self, arguments: tuple) -> bool:
        if self.dispatcher.overloads or self.spent_s >= BUDGET_S or size_of(arguments) > SMALL_BYTES:
            return False
        folder = cache_folder()
        name = f"{self.__module__.rpartition('.')[2]}.{self.function.__qualname__}-{self.__module__}."
        return folder is None or next(folder.glob(f"{name}*.nbi"), None) is None


@typeof_impl.register(Kernel)
def _type_of_kernel(kernel: Kernel, context: Any) -> numba.types.Type:
    """Let numba see a kernel that another one calls as its compiled function."""
    return typeof_impl(kernel.dispatcher, context)


#: Makes a kernel of a function on numpy arrays, named tuples of them and scalars. Its machine code is made at the first
#: large call, and cached on disk.
compiled = Kernel


def inner(function: Callable) -> Callable:
    """Compile a function that only kernels call: it is part of their machine code."""
    return numba.njit(nogil=True)(function)


def interpreted_as(python: Callable) -> Callable[[Callable], Callable]:
    """Name the function that stands in for an inner function of kernels while they are interpreted.

    A loop over bytes takes a microsecond per step on numpy scalars, and unsigned numbers overflow; Python computes the
    same on bytes or on integers of any size. The function must have the same arguments and result.
    """

    def mark(function: Callable) -> Callable:
        function.interpreted_as = python
        return function

    return mark


@cache
def _plain(kernel: Any) -> Callable:
    """Copy the function of a kernel, with plain functions in place of the kernels that it calls."""
    function = kernel.function if isinstance(kernel, Kernel) else kernel.py_func
    if hasattr(function, "interpreted_as"):
        return function.interpreted_as

    def replaced(value: Any) -> Any:
        return _plain(value) if isinstance(value, Kernel) or is_jitted(value) else value

    names = {
        name: replaced(value) for name, value in function.__globals__.items() if name in function.__code__.co_names
    }
    cells = tuple(CellType(replaced(cell.cell_contents)) for cell in function.__closure__ or ())
    scope = function.__globals__ | names
    return FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)


def arrays_of(argument: Any) -> Iterator[np.ndarray]:
    """List the arrays of an argument, including those in tuples."""
    if isinstance(argument, np.ndarray):
        yield argument
    elif isinstance(argument, tuple):
        for each in argument:
            yield from arrays_of(each)


def size_of(argument: Any) -> int:
    """Sum the bytes of all arrays of an argument."""
    return sum(array.nbytes for array in arrays_of(argument))


def _to_python(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        items = map(_to_python, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value
