"""The edits that are played, and the order from which they start."""

import random

import pytest

from dbt_tangles.report.edit_playback import ReplayError, undo, window


def edit(batch, op, event, to, came_from=None):
    return {"batch": batch, "op": op, "event_id": event, "from_position": came_from, "to_position": to}


def stream(seed: int, count: int) -> tuple[list[dict], list[str]]:
    """Draw random commands, some in batches of two, and the order that they produce."""
    rng, order, edits = random.Random(seed), [], []
    for n in range(count):
        to = max(0, len(order) - rng.choice((0, 0, 0, 1, 5)))
        order.insert(to, f"e{n}")
        edits.append(edit(n + 1, "ins", f"e{n}", to))
        if rng.random() < 0.3:
            came_from = rng.randrange(max(0, len(order) - 6), len(order))
            event = order.pop(came_from)
            to = rng.randrange(max(0, len(order) - 6), len(order) + 1)
            order.insert(to, event)
            edits.append(edit(n + 1, "mov", event, to, came_from))
    return edits, order


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("most", [5, 20, 1000])
def test_the_replay_ends_in_the_published_order(seed, most):
    edits, order = stream(seed, 40)
    played, low = window(edits[::-1], len(order), most)
    assert played == edits[len(edits) - len(played) :] and len(order) - low <= most
    now = undo(order[low:], played, low)
    if most == 1000:
        assert now == [] and low == 0
    for each in played:
        if each["op"] == "mov":
            assert now.pop(each["from_position"] - low) == each["event_id"]
        now.insert(each["to_position"] - low, each["event_id"])
    assert now == order[low:]


def test_a_batch_that_touches_too_much():
    edits = [edit(2, "ins", "z", 9), edit(1, "mov", "a", 5, 0)]
    assert window(edits, 10, 3) == ([edits[0]], 9)
    assert window(edits[1:], 10, 3) == ([], 10)


def test_edits_of_another_run():
    with pytest.raises(ReplayError):
        undo(["a", "b"], [edit(1, "ins", "a", 1)], 0)
    with pytest.raises(ReplayError):
        undo(["a"], [edit(1, "ins", "a", 7)], 0)
