"""Runs kernels as plain Python, within a time limit.

Interpreted numbers are numpy scalars with the width of their array, while machine code computes with 64 bits. A call in
which a number overflows, or with a division by zero, is therefore aborted. Functions with intended overflow are marked.
"""

import math
import threading
import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np


class Aborted(Exception):
    """Interpretation was aborted: the time limit was reached, or a number overflowed."""


class _Thread(threading.local):
    # Deadline of the kernel that this thread interprets, by the clock and in CPU seconds; 0 between kernels.
    clock_end_s = cpu_end_s = 0.0


_thread = _Thread()


def is_interpreting() -> bool:
    """Whether this thread is interpreting a kernel; the kernels it calls are interpreted too."""
    return _thread.clock_end_s > 0


def overflows(function: Callable) -> Callable:
    """Mark a function in which unsigned numbers overflow on purpose."""
    function.overflows = True
    return function


def interpreted_as(python: Callable) -> Callable:
    """Name the function that stands in for an inner function of kernels while they are interpreted.

    A loop over bytes takes a microsecond per step on numpy scalars; Python does the same in one operation on bytes or
    on integers of any size.

    Args:
        python: A function with the same arguments and result.

    Returns:
        A decorator, which marks the inner function.
    """

    def mark(function: Callable) -> Callable:
        function.interpreted_as = python
        return function

    return mark


def call(function: Callable, arguments: tuple) -> Any:
    """Call a function from an interpreted kernel.

    Raises:
        Aborted: The kernel exceeded its time limit.
    """
    if 0 < _thread.clock_end_s < time.perf_counter():
        _check_cpu()
    function = getattr(function, "interpreted_as", function)
    if hasattr(function, "overflows"):
        with np.errstate(over="ignore"):
            return function(*arguments)
    return function(*arguments)


def _check_cpu() -> None:
    """Check the limit of CPU seconds and extend the deadline by the rest (this costs ten times a clock reading)."""
    left_s = _thread.cpu_end_s - time.thread_time()
    if left_s <= 0:
        raise Aborted("out of time")
    _thread.clock_end_s = time.perf_counter() + left_s


def run(function: Callable, arguments: tuple, seconds: float = math.inf) -> Any:
    """Interpret a kernel.

    Args:
        function: The kernel.
        arguments: Numpy arrays, tuples of them and scalars. The kernel may write into the arrays.
        seconds: Limit of CPU seconds, checked at every call of another kernel function.

    Returns:
        The result; scalars are Python's, as from machine code.

    Raises:
        Aborted: The limit was exceeded, a number overflowed, or a divisor was zero. The arrays have their old contents.
    """
    saved = deepcopy(arguments)
    _thread.cpu_end_s = time.thread_time() + seconds
    _thread.clock_end_s = time.perf_counter() + seconds
    try:
        with np.errstate(over="raise", divide="raise"):
            return _to_python(function(*arguments))
    except (ArithmeticError, Aborted) as error:
        _restore(arguments, saved)
        raise Aborted(str(error)) from error
    finally:
        _thread.clock_end_s = 0.0


def size_of(argument: Any) -> int:
    """Sum the bytes of all arrays of an argument, including arrays in tuples."""
    if isinstance(argument, np.ndarray):
        return argument.nbytes
    return sum(map(size_of, argument)) if isinstance(argument, tuple) else 0


def _restore(argument: Any, saved: Any) -> None:
    if isinstance(argument, tuple):
        for each, saved_each in zip(argument, saved, strict=True):
            _restore(each, saved_each)
    elif isinstance(argument, np.ndarray) and argument.flags.writeable:
        argument[...] = saved


def _to_python(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        items = map(_to_python, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value
