"""Small calls of kernels are interpreted, all others compiled, with equal results."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from both_tiers import difference
from dbt_tangles.columns.strings import draw_keys, hash_strings, strings_of
from dbt_tangles.kernel_runtime import compiled as tiers
from dbt_tangles.kernel_runtime.compiled import SMALL_BYTES, compiled, inner


@pytest.fixture(scope="module", autouse=True)
def kernels_run_both_ways():
    """Kernels run here as a user's do."""
    return


class Pair(NamedTuple):
    """Arrays in a tuple."""

    left: np.ndarray
    right: np.ndarray


class Nest(NamedTuple):
    """A tuple in a tuple."""

    pair: Pair
    number: int


def dividing(by):
    """Make an inner function with a variable of an outer one."""

    @inner
    def divided(number):
        return by(number) // 2

    return divided


@inner
def itself(number):
    return number


half_of = dividing(itself)


@compiled
def doubled(values):
    return values * 2


def _summed(nest, times):
    total = 0
    for _ in range(times):
        for value in nest.pair.left:
            nest.pair.right[0] += 1
            total += half_of(value)
    return total, nest.pair.right.max(), doubled(nest.pair.right)


@pytest.fixture
def summed(monkeypatch: pytest.MonkeyPatch) -> tiers.Kernel:
    """A new kernel without machine code, independent of the mode of the tests."""
    monkeypatch.delenv(tiers.TIER, raising=False)
    return compiled(_summed)


#: Events of the largest interpreted call.
SMALL = (SMALL_BYTES - 3 * 8) // 4


def nest_of(size: int) -> Nest:
    return Nest(Pair(np.arange(size, dtype=np.int32), np.zeros(3, np.int64)), 1)


def is_compiled(kernel: tiers.Kernel) -> bool:
    return bool(kernel.dispatcher.signatures)


def test_a_small_call_is_interpreted(summed):
    nest = nest_of(SMALL)
    found = summed(nest, 1)
    assert not is_compiled(summed)
    assert [type(value) for value in found[:2]] == [int, int]
    assert nest.pair.right[0] == SMALL


def test_a_large_call_is_compiled_and_so_are_those_after_it(summed):
    large = summed(nest_of(SMALL + 1), 1)
    assert is_compiled(summed)
    assert large[:2] == (sum(value // 2 for value in range(SMALL + 1)), SMALL + 1)
    assert summed(nest_of(3), 1)[:2] == (1, 3)
    assert summed.spent_s == 0


def test_calls_above_the_budget_are_compiled(summed, monkeypatch):
    summed(nest_of(3), 1)
    assert 0 < summed.spent_s < tiers.BUDGET_S and not is_compiled(summed)
    monkeypatch.setattr(tiers, "BUDGET_S", summed.spent_s)
    assert summed(nest_of(3), 1)[:2] == (1, 3)
    assert is_compiled(summed)


@compiled
def multiplied(out, values):
    out[0] = values[0] * values[1]
    return out[0] // values[2]


def test_a_number_of_few_bits_that_overflows_starts_again(monkeypatch):
    values, out = np.array([10**6, 10**6, 1], np.int32), np.zeros(1, np.int64)
    monkeypatch.setenv(tiers.TIER, "interpreted")
    with pytest.raises(ArithmeticError):
        multiplied(out, values)
    monkeypatch.setenv(tiers.TIER, "auto")
    assert multiplied(out, values) == 10**12 == out[0]
    values[2] = 0
    with pytest.raises(ZeroDivisionError):
        multiplied(out, values)


@pytest.mark.parametrize(("tier", "size"), [("compiled", 3), ("interpreted", SMALL + 1)])
def test_a_setting_chooses(summed, monkeypatch, tier, size):
    monkeypatch.setenv(tiers.TIER, tier)
    summed(nest_of(size), 1)
    assert is_compiled(summed) == (tier == "compiled")


def test_an_unknown_setting_is_an_error(summed, monkeypatch):
    monkeypatch.setenv(tiers.TIER, "fast")
    with pytest.raises(ValueError, match="TANGLES_KERNELS is 'fast', and must be one of auto, compiled, interpreted"):
        summed(nest_of(3), 1)


def test_an_error_ends_the_call(summed):
    with pytest.raises(AttributeError):
        summed(3, 1)
    assert summed(nest_of(3), 1)[:2] == (1, 3)


@pytest.mark.filterwarnings("error")
def test_hashes_overflow_without_a_warning(monkeypatch):
    monkeypatch.setenv(tiers.TIER, "interpreted")
    strings, keys = strings_of(pa.array(["%" + "x" * 50, None, "", "short"])), draw_keys()
    found = hash_strings(strings, keys)
    monkeypatch.setenv(tiers.TIER, "compiled")
    assert difference(found, hash_strings(strings, keys)) is None
