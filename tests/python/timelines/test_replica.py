"""The replica against a plain list."""

import random
from unittest.mock import Mock, call

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.timeline.replica import EditError, Replica, follow


@given(st.integers(2, 9), st.integers(0, 40), st.lists(st.tuples(st.booleans(), st.integers(0), st.integers(0))))
def test_a_replica_equals_a_python_list(block, size, choices):
    plain = [f"e{number}" for number in range(size)]
    replica = Replica(plain, block)
    for number, (inserts, first, second) in enumerate(choices):
        if inserts or not plain:
            position = first % (len(plain) + 1)
            plain.insert(position, number)
            replica.on_insert(position, number)
        else:
            taken, put = first % len(plain), second % len(plain)
            event = plain.pop(taken)
            plain.insert(put, event)
            assert replica.on_move(taken, put) == event
        assert len(replica) == len(plain)
    assert replica.order() == plain == list(replica) == [replica[position] for position in range(len(plain))]


@pytest.mark.parametrize("seed", range(3))
def test_many_commands_keep_blocks_few(seed):
    """All moves go to one place, which splits its block again and again while the other blocks become empty."""
    chance = random.Random(seed)
    plain, replica = list(range(400)), Replica(range(400), 8)
    for _ in range(5_000):
        taken = chance.randrange(400)
        put = chance.choice([0, 200, 399])
        event = plain.pop(taken)
        plain.insert(put, event)
        assert replica.on_move(taken, put) == event
    assert replica.order() == plain
    assert len(replica._blocks) <= 16 + 8 * 400 // 8


def test_taken_events_leave_the_order():
    replica = Replica("abcdefgh", block=2)
    assert [replica.take(position) for position in (3, 0, 5)] == ["d", "a", "h"]
    assert replica.order() == list("bcefg") and len(replica) == 5


def test_positions_out_of_range_are_an_error_and_change_nothing():
    replica = Replica("abc")
    for position in (-1, 4):
        with pytest.raises(IndexError, match=f"position {position} is not one of the 4"):
            replica.on_insert(position, "x")
    for taken, put in ((-1, 0), (3, 0), (0, -1), (0, 3)):
        with pytest.raises(IndexError, match="is not one of the 3"):
            replica.on_move(taken, put)
    for position in (-1, 3):
        with pytest.raises(IndexError):
            replica[position]
        with pytest.raises(IndexError):
            replica.take(position)
    assert replica.order() == ["a", "b", "c"]
    with pytest.raises(IndexError):
        Replica().on_move(0, 0)
    with pytest.raises(ValueError):
        Replica(block=1)


def test_any_listener_is_driven():
    log = Mock()
    log.on_move.return_value = None
    assert follow(iter([("ins", "a", None, 0), ("ins", "b", None, 0), ("mov", "a", 1, 0)]), log) == 3
    assert log.mock_calls == [call.on_insert(0, "a"), call.on_insert(0, "b"), call.on_move(1, 0)]
    assert follow([], log) == 0


def test_a_listener_gets_contents():
    """Figure 1's screen shows texts; a `mov` still checks its event."""
    texts = {"a": "Hello!", "b": "Hi.", "c": "Bye."}
    replica = Replica()
    commands = [("ins", "a", None, 0), ("ins", "b", None, 0), ("ins", "c", None, 2), ("mov", "a", 1, 0)]
    assert follow(commands, replica, texts.__getitem__) == 4
    assert replica.order() == ["Hello!", "Hi.", "Bye."]
    with pytest.raises(EditError, match=r"it moves 'Hi\.', but 'Bye\.' is at 2"):
        follow([("mov", "b", 2, 0)], replica, texts.__getitem__)


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (("ins", "c", None, 3), "position 3 is not one of the 3"),
        (("ins", "c", None, None), "it is neither an ins nor a mov"),
        (("ins", "c", 0, 0), "it is neither an ins nor a mov"),
        (("mov", "a", None, 0), "it is neither an ins nor a mov"),
        (("mov", "a", 0, None), "it is neither an ins nor a mov"),
        (("mov", "a", 0, 2), "position 2 is not one of the 2"),
        (("mov", "a", -1, 0), "position -1"),
        (("mov", "b", 0, 1), "it moves 'b', but 'a' is at 0"),
        (("del", "a", 0, None), "it is neither an ins nor a mov: 'del'"),
        ((None, None, None, None), "it is neither an ins nor a mov"),
    ],
)
def test_commands_that_cannot_be_followed(command, problem):
    with pytest.raises(EditError, match=problem) as error:
        follow([("ins", "a", None, 0), ("ins", "b", None, 1), command, ("ins", "z", None, 0)], Replica())
    assert error.value.place == 2
