"""The ranked list compared with a Python list."""

import random

import numpy as np
import pytest

from dbt_tangles.algorithms.structures.ranked_list import (
    first_shown,
    length,
    next_shown,
    place_of,
    put_before_larger,
    ranked_list,
    unlist,
)
from dbt_tangles.kernel_runtime.compiled import compiled


@compiled
def _replayed(size, is_hidden, items, after):
    """Insert items after others, or remove present ones; return the list and all ranks after each step."""
    made = ranked_list(size)
    made.is_hidden[:] = is_hidden
    is_in = np.zeros(size, np.bool_)
    shown = np.full((len(items), size), -1)
    places = np.full((len(items), size, 2), -1)
    counts = np.empty(len(items), np.int64)
    for step in range(len(items)):
        x = items[step]
        if is_in[x]:
            unlist(made, np.int64(x))
        else:
            put_before_larger(made, np.int64(x), np.int64(after[step]))
        is_in[x] = not is_in[x]
        y = first_shown(made)
        at = 0
        while y >= 0:
            shown[step, at] = y
            at += 1
            y = next_shown(made, y)
        counts[step] = length(made)
        for z in range(size):
            if is_in[z]:
                places[step, z] = place_of(made, np.int64(z))
    return shown, places, counts


@pytest.mark.parametrize("seed", range(30))
def test_a_ranked_list_equals_a_python_list(seed):
    rng = random.Random(seed)
    size = rng.randint(1, 40)
    is_hidden = [rng.random() < 0.3 for _ in range(size)]
    listed, steps, expected = [], [], []
    for _ in range(120):
        x, after = rng.randrange(size), rng.choice([-1, *listed])
        steps.append((x, after))
        if x in listed:
            listed = [y for y in listed if y != x]
        else:
            begin = listed.index(after) + 1 if after >= 0 else 0
            larger = (at for at in range(begin, len(listed)) if listed[at] > x and not is_hidden[listed[at]])
            at = begin if is_hidden[x] else next(larger, len(listed))
            listed = [*listed[:at], x, *listed[at:]]
        expected.append(listed)
    shown, places, counts = _replayed(
        size, np.array(is_hidden), np.array([x for x, _ in steps]), np.array([a for _, a in steps])
    )
    for step, right in enumerate(expected):
        visible = [y for y in right if not is_hidden[y]]
        assert [y for y in shown[step] if y >= 0] == visible
        assert counts[step] == len(visible)
        for at, y in enumerate(right):
            assert tuple(places[step, y]) == (at, sum(not is_hidden[z] for z in right[:at]))
        assert (places[step, :, 0] >= 0).sum() == len(right)
