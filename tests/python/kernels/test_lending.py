"""Borrowed arrays are not counted, and stay inside the callee."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError
from numba.core.runtime import _nrt_python, rtsys

from dbt_tangles.kernel_runtime.compiled import inner


class Pair(NamedTuple):
    """Two arrays of one type."""

    left: np.ndarray
    right: np.ndarray


class Nest(NamedTuple):
    """A tuple in a tuple, an array of another type, and a number."""

    pair: Pair
    table: np.ndarray
    number: int


@inner
def total(values, factor):
    count = 0.0
    for value in values[1:]:
        count += factor * value
    return count


@inner
def add_up(nest, *more):
    left, right = nest.pair
    left[0] += 1
    count = 0.0
    for i in range(len(left)):
        count += more[0][i] + more[1][i]
        count += left[i] * right[-i] + total(factor=0.5, values=nest.table[i])
        count += nest.table[i, ::2].sum() + nest.table.T[0, i]
    return count + nest.table.reshape(nest.table.size)[::-1].copy()[nest.number]


@njit
def kernel(left, right, table):
    made = left + right
    nest = Nest(Pair(left, right), table, 1)
    return add_up(nest, left, made), add_up(nest, np.ones(len(left)), right[::-1])


@pytest.fixture
def arguments() -> tuple[np.ndarray, ...]:
    table = np.arange(12.0).reshape(3, 4)
    table.flags.writeable = False
    return np.arange(3.0), np.arange(6.0)[::2], table


def test_borrowing_gives_equal_results(arguments: tuple[np.ndarray, ...], monkeypatch: pytest.MonkeyPatch):
    first = arguments[0].copy()
    found = kernel(*arguments)
    for function in (total, add_up):
        monkeypatch.setitem(globals(), function.__name__, function.py_func)
    assert found == kernel.py_func(first, *arguments[1:])
    assert np.array_equal(first, arguments[0])


def test_no_reference_is_kept(arguments: tuple[np.ndarray, ...]):
    kernel(*arguments)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    for _ in range(10):
        kernel(*arguments)
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0


def test_no_reference_is_counted(arguments: tuple[np.ndarray, ...]):
    kernel(*arguments)
    codes = [overload.library.get_llvm_str() for overload in total.overloads.values()]
    assert codes and not any("NRT_incref" in code or "NRT_decref" in code for code in codes)


@inner
def the_same(values):
    return values


@inner
def a_part(values):
    return len(values), values[1:]


@inner
def sometimes(values, is_own):
    if is_own:
        values = np.zeros(3)
    return values.sum()


@inner
def as_bytes(values):
    return values.view(np.uint8).sum()


@pytest.mark.parametrize(
    ("borrower", "message"),
    [
        (the_same, "the_same returns an array"),
        (a_part, "a_part returns an array"),
        (as_bytes, "is viewed as another type"),
    ],
)
def test_borrowed_arrays_cannot_be_returned(borrower, message: str):
    with pytest.raises(TypingError, match=message):
        njit(lambda values: borrower(values))(np.zeros(2))


def test_a_variable_is_borrowed_or_owned():
    with pytest.raises(Exception, match="a borrowed array on one path"):
        njit(lambda values: sometimes(values, True))(np.zeros(2))


@inner
def refuse(values):
    if values[0] > 0:
        raise ValueError("the first is positive", values[0])
    return values.sum()


def test_an_error_comes_out_of_the_kernel():
    caller = njit(lambda values: refuse(values))
    assert caller(np.zeros(2)) == 0
    with pytest.raises(ValueError) as raised:
        caller(np.ones(2))
    assert raised.value.args == ("the first is positive", 1.0)
