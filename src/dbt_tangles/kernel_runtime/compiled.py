"""How kernels run: interpreted where a log is small, compiled where it is not.

A kernel is a plain function on arrays. To compile one takes seconds, to interpret it on a small log milliseconds. So a
call is interpreted while all of this holds:

* this process has no machine code of the kernel;
* the arrays that are passed have at most SMALL_BYTES together;
* interpreted calls of the kernel have taken less than BUDGET_S CPU seconds in this process;
* no machine code for these types is kept on disk.

Every other call loads the machine code, or makes it, and so does an interpreted call that takes longer or in which a
number overflows. Both ways give the same results.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from numba.core import config
from numba.core.registry import CPUDispatcher

from dbt_tangles.kernel_runtime import interpreted
from dbt_tangles.kernel_runtime.lending import Borrower
from dbt_tangles.kernel_runtime.machine_code import MachineCode

#: The environment variable that says how kernels run, and its values; the first is the default.
TIER = "TANGLES_KERNELS"
TIERS = ("auto", "compiled", "interpreted")
#: Bytes of all arrays of a call up to which it may be interpreted: of 20,000 numbers of 64 bits.
SMALL_BYTES = 160_000
#: CPU seconds that interpreted calls of one kernel may take in one process; a call that takes longer starts again,
#: compiled.
BUDGET_S = 1.0


class Kernel(CPUDispatcher):
    """A function that Python calls: interpreted or compiled, call by call."""

    _spent_s = 0.0  # CPU seconds that interpreted calls have taken.

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel.

        Raises:
            ValueError: TANGLES_KERNELS is none of its values.
        """
        if interpreted.is_interpreting():
            return interpreted.call(self.py_func, arguments)
        tier = os.environ.get(TIER) or TIERS[0]
        if tier not in TIERS:
            raise ValueError(f"{TIER} is {tier!r}, and must be one of {', '.join(TIERS)}")
        if tier == "interpreted":
            return interpreted.run(self.py_func, arguments)
        if tier == "auto" and self._may_be_interpreted(arguments):
            begin = time.thread_time()
            try:
                return interpreted.run(self.py_func, arguments, BUDGET_S - self._spent_s)
            except interpreted.GivenUp:
                pass
            finally:
                self._spent_s += time.thread_time() - begin
        return super().__call__(*arguments)

    def _may_be_interpreted(self, arguments: tuple) -> bool:
        if self.overloads or self._spent_s >= BUDGET_S or interpreted.size_of(arguments) > SMALL_BYTES:
            return False
        if not isinstance(self._cache, MachineCode):
            return True
        return not self._cache.has(tuple(map(self.typeof_pyval, arguments)), self.targetctx)


def compiled(function: Callable) -> Callable:
    """Make a kernel: compiled on the first call that is large, its machine code kept on disk where that is possible.

    Kernels may call those of other modules: what is kept counts only for the very sources it was made of.

    Args:
        function: A function on numpy arrays, named tuples of them and scalars.

    Returns:
        What Python and other kernels call; the function itself where numba is told not to compile.
    """
    # Where several tasks share a process, as they do in Sail's, the others go on meanwhile.
    if config.DISABLE_JIT:
        return function
    kernel = Kernel(function, targetoptions={"nopython": True, "nogil": True})
    kernel._cache = MachineCode.of(function) or kernel._cache
    return kernel


def inner(function: Callable) -> Callable:
    """Compile a function for kernels alone: it is kept with them, and no wrapper is made that Python could call.

    Args:
        function: A function on numpy arrays, tuples of them and scalars, which are lent to it. It returns no array.

    Returns:
        What kernels call, where they are interpreted too; the function itself where numba is told not to compile.
    """
    if config.DISABLE_JIT:
        return function
    return Borrower(function, targetoptions={"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True})
