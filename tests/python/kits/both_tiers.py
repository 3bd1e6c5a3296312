"""Runs small calls of kernels both compiled and interpreted, and compares results and arguments."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from dbt_tangles.kernel_runtime.compiled import Kernel, size_of

#: A call is also interpreted if its arrays take at most this many bytes.
SMALL_BYTES = 40_000
#: After this many CPU seconds of interpreted calls, a kernel runs only compiled.
BUDGET_S = 1.0

_spent: Counter[str] = Counter()
_as_users_run = Kernel.__call__


@contextmanager
def both_tiers() -> Iterator[None]:
    """Within the context, run each call compiled; compare small calls with their interpreted results."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Kernel, "__call__", _call)
        yield


@contextmanager
def as_users_run() -> Iterator[None]:
    """Within the context, run kernels as a user's build does."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Kernel, "__call__", _as_users_run)
        yield


def _call(kernel: Kernel, *arguments: Any) -> Any:
    name = kernel.__name__
    if size_of(arguments) > SMALL_BYTES or _spent[name] > BUDGET_S:
        return kernel.run_compiled(*arguments)
    copies = deepcopy(arguments)
    expected = kernel.run_compiled(*arguments)
    begin = time.process_time()
    try:
        found = kernel.interpret(*copies)
    except ArithmeticError:  # A number overflowed: a user's build repeats the call compiled.
        return expected
    finally:
        _spent[name] += time.process_time() - begin
    problem = difference(found, expected) or difference(copies, arguments)
    assert problem is None, f"{name}, interpreted and compiled: {problem}"
    return expected


def difference(found: Any, expected: Any) -> str | None:
    """Describe how two values or tuples differ in type or content; return None if they are equal."""
    if type(found) is not type(expected):
        return f"{type(found)} and {type(expected)}"
    if isinstance(found, tuple):
        if len(found) != len(expected):
            return f"tuples of {len(found)} and {len(expected)}"
        return next(filter(None, map(difference, found, expected)), None)
    if isinstance(found, np.ndarray):
        if (found.dtype, found.shape) != (expected.dtype, expected.shape):
            return f"{found.dtype}{found.shape} and {expected.dtype}{expected.shape}"
        return None if np.array_equal(found, expected) else f"{found} and {expected}"
    return None if found == expected else f"{found!r} and {expected!r}"
