"""Kernels as plain Python, for some time at most.

Numbers there are numpy's and have the width of the array that they come from, where compiled code counts in 64 bits.
So a call in which one overflows is given up, as is one that divides by zero. Functions whose numbers overflow on
purpose are marked.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np


class GivenUp(Exception):
    """A kernel is not to be interpreted further: it is out of time, or a number has overflowed."""


class _Thread(threading.local):
    # Until when the kernel that this thread interprets may go on, by the clock and in CPU seconds; 0 if there is none.
    clock_end_s = cpu_end_s = 0.0


_thread = _Thread()


def is_interpreting() -> bool:
    """Whether this thread interprets a kernel, whose calls of others are interpreted with it."""
    return _thread.clock_end_s > 0


def overflows(function: Callable) -> Callable:
    """Mark a function in which unsigned numbers overflow on purpose."""
    function.overflows = True
    return function


def call(function: Callable, arguments: tuple) -> Any:
    """Call a function for an interpreted kernel.

    Raises:
        GivenUp: The kernel has taken longer than it may.
    """
    if 0 < _thread.clock_end_s < time.perf_counter():
        _check_cpu()
    if hasattr(function, "overflows"):
        with np.errstate(over="ignore"):
            return function(*arguments)
    return function(*arguments)


def _check_cpu() -> None:
    """Ask for the CPU seconds, which on a busy machine are fewer; that takes ten times as long as to read the clock."""
    left_s = _thread.cpu_end_s - time.thread_time()
    if left_s <= 0:
        raise GivenUp("out of time")
    _thread.clock_end_s = time.perf_counter() + left_s


def run(function: Callable, arguments: tuple, seconds: float = math.inf) -> Any:
    """Interpret a kernel.

    Args:
        function: The kernel.
        arguments: Numpy arrays, tuples of them and scalars. The kernel may write into the arrays.
        seconds: CPU seconds that it may take. They are checked wherever it calls another function of kernels.

    Returns:
        Its result; scalars are those of Python, as from compiled code.

    Raises:
        GivenUp: It took longer, or a number overflowed, or was divided by zero. The arrays are as they were before.
    """
    kept = deepcopy(arguments)
    _thread.cpu_end_s = time.thread_time() + seconds
    _thread.clock_end_s = time.perf_counter() + seconds
    try:
        with np.errstate(over="raise", divide="raise"):
            return _of_python(function(*arguments))
    except (ArithmeticError, GivenUp) as error:
        _restore(arguments, kept)
        raise GivenUp(str(error)) from error
    finally:
        _thread.clock_end_s = 0.0


def size_of(argument: Any) -> int:
    """Count the bytes of all arrays of an argument, those in tuples included."""
    if isinstance(argument, np.ndarray):
        return argument.nbytes
    return sum(map(size_of, argument)) if isinstance(argument, tuple) else 0


def _restore(argument: Any, kept: Any) -> None:
    if isinstance(argument, tuple):
        for each, kept_each in zip(argument, kept, strict=True):
            _restore(each, kept_each)
    elif isinstance(argument, np.ndarray) and argument.flags.writeable:
        argument[...] = kept


def _of_python(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        items = map(_of_python, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value
