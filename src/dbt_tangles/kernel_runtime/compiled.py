"""Decorators for kernels: small calls are interpreted, large calls run as machine code.

A kernel is a plain function on arrays. Compiling it takes seconds; interpreting it on a small log takes milliseconds. A
call is therefore interpreted while all these conditions hold:

* this process has not loaded machine code of the kernel;
* the array arguments have at most SMALL_BYTES in total;
* interpreted calls of the kernel have taken less than BUDGET_S CPU seconds in this process;
* the disk cache lacks machine code for these types.

Every other call loads or compiles the machine code. An interpreted call that exceeds the budget, or in which a number
overflows, starts again as machine code. Both ways give the same results.
"""

import os
import time
from collections.abc import Callable
from typing import Any

from numba.core import config
from numba.core.registry import CPUDispatcher

from dbt_tangles.kernel_runtime import interpreted
from dbt_tangles.kernel_runtime.lending import Borrower
from dbt_tangles.kernel_runtime.machine_code import MachineCode

#: The environment variable that selects how kernels run, and its values; the first is the default.
TIER = "TANGLES_KERNELS"
TIERS = ("auto", "compiled", "interpreted")
#: Maximum total size of the arrays of an interpreted call: 20,000 numbers of 64 bits.
SMALL_BYTES = 160_000
#: CPU seconds for interpreted calls of one kernel in one process; a call that takes longer starts again, compiled.
BUDGET_S = 1.0


class Kernel(CPUDispatcher):
    """A function called from Python: each call is interpreted or compiled."""

    _spent_s = 0.0  # CPU seconds of interpreted calls so far.

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel.

        Raises:
            ValueError: TANGLES_KERNELS has an unknown value.
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
            except interpreted.Aborted:
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
    """Make a kernel: compiled on the first large call, with its machine code cached on disk.

    A kernel may call kernels of other modules: the cache key covers the source of all of them.

    Args:
        function: A function on numpy arrays, named tuples of them and scalars.

    Returns:
        A kernel for Python and other kernels; the function itself if numba's JIT is disabled.
    """
    # Releasing the GIL lets other tasks of the same process (as in Sail) run meanwhile.
    if config.DISABLE_JIT:
        return function
    kernel = Kernel(function, targetoptions={"nopython": True, "nogil": True})
    kernel._cache = MachineCode.of(function) or kernel._cache
    return kernel


def inner(function: Callable) -> Callable:
    """Compile a function that only kernels call: it is cached with them, without a Python wrapper.

    Args:
        function: A function on numpy arrays, tuples of them and scalars. It borrows its arguments (see `lending`), and
            must not return an array.

    Returns:
        A function for kernels, compiled or interpreted; the function itself if numba's JIT is disabled.
    """
    if config.DISABLE_JIT:
        return function
    return Borrower(function, targetoptions={"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True})
