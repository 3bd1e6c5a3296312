"""Orders of small bases, written down one by one, and of arrays that are not a base."""

import numpy as np
import pytest

from base_arrays import arrays_of
from base_tables import drawing
from dbt_tangles.algorithms.autobase.consensus import order_views
from dbt_tangles.algorithms.autobase.views import ViewArrays


def altered(column: int, at: int, value: int) -> tuple[np.ndarray, ...]:
    """Change one value of a small base."""
    arrays, _ = arrays_of([drawing("ab", "a1 b1:a1 a2:b1 c1:a2")])
    arrays[column][at] = value
    return arrays


@pytest.mark.parametrize(
    ("message", "arrays"),
    [
        ("do not fit together", altered(0, 1, 3)),
        ("do not fit together", altered(1, 4, 3)),
        ("floors are not those", altered(8, 1, 1)),
        ("an edge of a view leaves it", altered(2, 0, 4)),
        ("an edge of a view leaves it", altered(2, 0, -1)),
        ("close a cycle", altered(2, 2, 1)),
        ("ascend by writer", altered(3, 3, 1)),
        ("ascend by writer", altered(4, 1, 1)),
        ("several indexer numbers", altered(6, 1, -1)),
        ("is relayed", altered(7, 0, 1)),
        ("has no floor", altered(6, 3, 2)),
        ("two logs", altered(6, 3, 1)),
        ("has a hole", altered(4, 1, 3)),
        ("not above its floor", altered(9, 0, 1)),
    ],
)
def test_inconsistent_arrays_are_refused(message, arrays):
    with pytest.raises(ValueError, match=message):
        order_views(ViewArrays(*arrays))


def test_columns_of_different_lengths_are_refused():
    arrays, _ = arrays_of([drawing("ab", "a1 b1:a1")])
    with pytest.raises(ValueError, match="differ in length"):
        order_views(arrays._replace(batch=arrays.batch[:1]))


def test_an_indexer_follows_its_own_log():
    arrays, _ = arrays_of([drawing("a", "a1 a2")])
    with pytest.raises(ValueError, match="does not follow its previous node"):
        order_views(arrays._replace(start=np.zeros(3, np.int64), previous=arrays.previous[:0]))
