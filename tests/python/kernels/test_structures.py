"""The shared data structures compared with plain Python."""

import heapq
from bisect import bisect_left

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.structures import bits, fenwick, search
from dbt_tangles.algorithms.structures.components import strong_components
from dbt_tangles.algorithms.structures.gallop import galloping
from dbt_tangles.algorithms.structures.heap import drop_first, push
from dbt_tangles.algorithms.structures.kahn import Unplaced, place_first_ready
from dbt_tangles.algorithms.structures.sorting import insertion_sort, merge_sort
from dbt_tangles.kernel_runtime.compiled import compiled, inner

NUMBERS = st.lists(st.integers(0, 20), min_size=1, max_size=40)
PAIRS = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)))
WORDS = st.integers(1, 2**64 - 1).map(np.uint64)


@compiled
def heap_run(steps, key):
    """Push non-negative numbers, pop for negative ones; return the popped numbers."""
    heap = np.empty(len(steps), np.int64)
    out = np.empty(len(steps), np.int64)
    size = count = 0
    for step in steps:
        if step >= 0:
            size = push(heap, size, step, key)
        elif size > 0:
            out[count] = heap[0]
            count += 1
            size = drop_first(heap, size, key)
    return out[:count].copy()


@compiled
def sums_before(values):
    """Return all prefix sums, and for every unit of the sum its entry and the remainder there."""
    built = np.zeros(len(values) + 1, np.int64)
    built[1:] = values
    fenwick.gather_sums(built, len(values))
    tree = np.zeros(len(values) + 1, np.int64)
    for i in range(len(values)):
        fenwick.add(tree, len(values), i, values[i])
    sums = np.array([fenwick.sum_before(tree, i) for i in range(len(values) + 1)])
    found = [fenwick.find_sum(tree, len(values), np.int64(unit)) for unit in range(sums[-1])]
    return sums, (built == tree).all(), found


@compiled
def maxima(keys):
    """Return, for every index, the item before it with the highest key, from a tree of maxima."""
    n = len(keys)
    tree = np.full(n + 1, -1)
    for i in range(n):
        fenwick.raise_maximum(tree, n, i, i, keys)
    highest = np.full(n, -1)
    for i in range(n):
        place = i + 1
        while place > 0:
            highest[i] = max(highest[i], keys[tree[place]])
            place &= place - 1
    return highest


@inner
def is_less(place, values, number):
    return values[place] < number


gallop = galloping(is_less)


@compiled
def searches(values, number):
    return gallop(-1, len(values), values, number), search.first_not_below(values, len(values), number)


@compiled
def in_word(word):
    return bits.popcount(word), bits.lowest_bit(word), bits.highest_bit(word)


@compiled
def both_sorted(values):
    inserted, merged = values.copy(), values.copy()
    insertion_sort(inserted)
    merge_sort(merged, np.empty_like(values))
    return inserted, merged


@compiled
def placed(child_start, child, waiting, hidden):
    n = len(waiting)
    order = np.full(n, -1)
    chosen = np.ones(n, np.bool_)
    heap = np.empty(n, np.int64)
    end = place_first_ready(range(n), Unplaced(child_start, child, chosen, waiting, heap), hidden, None, order, 0)
    return order[:end].copy()


@given(st.lists(st.integers(-8, 12), min_size=1, max_size=60), st.booleans())
def test_heaps_return_the_least_entry(steps, is_keyed):
    key = np.array([7, 7, 3, 9, 1, 1, 0, 5, 5, 2, 4, 4, 8], np.uint64)
    rank = (lambda x: (int(key[x]), x)) if is_keyed else (lambda x: (0, x))
    heap, expected = [], []
    for step in steps:
        if step >= 0:
            heapq.heappush(heap, rank(step))
        elif heap:
            expected.append(heapq.heappop(heap)[1])
    assert heap_run(np.array(steps), key if is_keyed else None).tolist() == expected


@given(NUMBERS)
def test_fenwick_trees_sum_prefixes(values):
    sums, is_built_alike, found = sums_before(np.array([*values, 1]))
    assert sums.tolist() == [sum(values[:i]) for i in range(len(values) + 1)] + [sum(values) + 1]
    assert is_built_alike
    assert found == [(i, unit) for i, value in enumerate([*values, 1]) for unit in range(value)]


@given(NUMBERS)
def test_maxima(values):
    assert maxima(np.array(values)).tolist() == [max(values[: i + 1]) for i in range(len(values))]


@given(NUMBERS, st.integers(0, 21))
def test_searches(values, number):
    values = sorted(values)
    assert searches(np.array(values), number) == (bisect_left(values, number),) * 2


@given(WORDS)
def test_bits(word):
    number = int(word)
    assert in_word(word) == (number.bit_count(), (number & -number).bit_length() - 1, number.bit_length() - 1)


@given(st.lists(st.integers(-9, 9), max_size=80))
def test_sorting(values):
    for found in both_sorted(np.array(values, np.int64)):
        assert found.tolist() == sorted(values)


@given(st.integers(1, 8), PAIRS, st.sets(st.integers(0, 7)))
def test_components(count, pairs, left_out):
    edges = sorted((a, b) for a, b in pairs if a < count and b < count)
    chosen = np.array([x not in left_out for x in range(count)])
    start = np.searchsorted([a for a, _ in edges], np.arange(count + 1)).astype(np.int64)
    component, size = strong_components(start, np.array([b for _, b in edges], np.int32), chosen)
    leads = {(x, x) for x in range(count)} | {(a, b) for a, b in edges if chosen[a] and chosen[b]}
    for middle in range(count):
        leads |= {(a, b) for a in range(count) for b in range(count) if {(a, middle), (middle, b)} <= leads}
    for a in range(count):
        assert (component[a] >= 0) == chosen[a]
        if chosen[a]:
            assert size[component[a]] == (component == component[a]).sum()
            for b in range(count):
                assert (component[a] == component[b]) == ({(a, b), (b, a)} <= leads)


@given(
    st.integers(1, 8), st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))), st.sets(st.integers(0, 7)), st.data()
)
def test_first_ready(count, pairs, out_of_sight, data):
    name = data.draw(st.permutations(range(count)))
    edges = sorted((name[a], name[b]) for a, b in pairs if a < b < count)
    child_start = np.searchsorted([a for a, _ in edges], np.arange(count + 1)).astype(np.int64)
    waiting = np.bincount([b for _, b in edges], minlength=count).astype(np.int32)
    hidden = np.array([x in out_of_sight for x in range(count)])
    found = placed(child_start, np.array([b for _, b in edges], np.int32), waiting, hidden)
    expected, left = [], set(range(count))
    while left:
        ready = sorted(x for x in left if not any(b == x and a in left for a, b in edges))
        x = next((x for x in ready if hidden[x]), ready[0])
        left.remove(x)
        expected += [] if hidden[x] else [x]
    assert found.tolist() == expected
    assert not waiting.any()
