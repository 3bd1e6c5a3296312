"""Orders of small bases, written down one by one, and of arrays that are not a base."""

import numpy as np
import pytest

import autobase_oracle as oracle
from autobase_oracle import Base
from base_arrays import arrays_of
from base_tables import drawing
from dbt_tangles.algorithms.autobase.consensus import order_views
from dbt_tangles.algorithms.autobase.views import ViewArrays
from rule_search import answers


def shown(base: Base) -> tuple[str, str]:
    """Return the settled nodes and the rest in order; the oracle must agree."""
    ((order, confirmed),) = found = answers([base])
    assert found == [oracle.order_of(base)]
    names = [f"{i.writer.decode()}{i.length}" for i in order]
    return " ".join(names[:confirmed]), " ".join(names[confirmed:])


def test_two_of_three_indexers_that_see_each_other_settle_a_node():
    assert shown(drawing("abc", "a1 b1:a1")) == ("", "a1 b1")
    assert shown(drawing("abc", "a1 b1:a1 a2:b1")) == ("a1", "b1 a2")
    assert shown(drawing("abc", "a1 b1:a1 c1:b1")) == ("a1", "b1 c1")


def test_a_single_ack_settles_a_node_without_concurrent_nodes():
    assert shown(drawing("ab", "a1 b1:a1")) == ("a1", "b1")
    assert shown(drawing("abc", "a1 b1:a1 c1:a1")) == ("a1", "b1 c1")


def test_a_non_indexing_writer_may_merge_forks():
    assert shown(drawing("abc", "a1 c1 n1:a1,c1 b1:n1")) == ("", "a1 c1 n1 b1")
    assert shown(drawing("abc", "a1 c1 n1:a1,c1 b1:n1 a2:b1 b2:a2")) == ("a1 c1 n1 b1", "a2 b2")


def test_the_known_part_of_a_batch_is_settled_as_a_whole():
    assert shown(drawing("a", "b1*3 b2*2 b3 a1:b3")) == ("b1 b2 b3 a1", "")
    assert shown(drawing("a", "a1*3 a2*2 b1")) == ("a1 a2", "b1")
    # The middle of a batch is not followed; if a node does, the rest of the batch is settled with all its ancestors.
    assert shown(drawing("a", "c1 b1*2 b2:c1 a1:b1")) == ("b1 a1 c1 b2", "")
    assert shown(drawing("ab", "b1*2 a1:b1 b2:a1 a2:b2")) == ("b1 a1 b2", "a2")


def test_a_relayed_node_is_in_the_order_once_it_is_settled():
    assert shown(drawing("a", "b1 r1:b1 a1", relayed="r")) == ("a1", "b1")
    assert shown(drawing("a", "b1 r1:b1 a1:r1 r2", relayed="r")) == ("b1 r1 a1", "")
    # The followers of a relayed node also follow its previous nodes, and do not wait for its turn.
    assert shown(drawing("x", "c1 r1:c1 b1:r1 d1 a1:d1", relayed="r")) == ("", "c1 b1 d1 a1")
    assert shown(drawing("", "r1 r2:c1 c1 b1:r2 r3:b1", relayed="r")) == ("", "c1 b1")


def test_lengths_count_from_the_settled_start():
    base = drawing("abc", "a5 b7:a5 a6:b7 d9:a4")
    base.floor = {b"a": 4, b"b": 6, b"c": 3}
    assert shown(base) == ("a5", "b7 a6 d9")


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
