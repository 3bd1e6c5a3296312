"""What each message is still good for."""

from __future__ import annotations

import numpy as np

from dbt_tangles.algorithms.graph.arrays import sums
from dbt_tangles.kernel_runtime.compiled import compiled

PURPOSES = ("none", "ghost", "trail", "goal")
NONE, GHOST, TRAIL, GOAL = range(4)
NOTHING_REQUIRED = -(2**63)


ACTIONS = ("keep", "erase", "delete")
KEEP, ERASE, DELETE = range(3)


def pruning_actions(is_kept: np.ndarray, is_bridged: np.ndarray, start: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """Say what may become of each message so that no item changes, whatever is written by those who keep the rules.

    The data of all that is not kept may go. So may the whole message, where those who follow it link back beyond it:
    peers refuse a message if they know nothing that it lists. Where someone left that backlink out, what it lists
    instead stays. See the decision on pruning for the proof that no more than this may go.

    Args:
        is_kept: bool[messages]; whether it decides on an item, is a root, or is in a set without root.
        is_bridged: bool[messages]; see `known`.
        start: int64[messages + 1].
        previous: int32[edges], earlier messages.

    Returns:
        int8[messages], indices into `ACTIONS`.
    """
    may_go = is_bridged & ~is_kept
    is_sound = sums(~may_go[previous], start) > 0
    may_go[previous[~np.repeat(is_sound, np.diff(start))]] = False
    action = np.full(len(is_kept), ERASE, np.int8)
    action[is_kept] = KEEP
    action[may_go] = DELETE
    return action


@compiled
def required_depths(set_start, root, is_item_root, depth):
    """Find from which depth on the messages of each set are needed: the least depth of an item root.

    Args:
        set_start: int64[sets + 1], into the messages.
        root: int32[sets], the message that is a set's root, or -1.
        is_item_root: bool[messages].
        depth: int64[messages].

    Returns:
        int64[sets]; 0 for a set without its root, of which nothing may be given up, and `NOTHING_REQUIRED` where
        there is no item root.
    """
    required = np.zeros(len(root), np.int64)
    for s in range(len(root)):
        if root[s] >= 0:
            required[s] = NOTHING_REQUIRED
            # Messages ascend by depth.
            for m in range(set_start[s], set_start[s + 1]):
                if is_item_root[m]:
                    required[s] = depth[m]
                    break
    return required


@compiled
def purposes(set_start, root, start, previous, depth, required, ghost_span):
    """Say what each message is good for.

    From the required depth on it is a goal. Below, what the shortest paths from the messages at that depth to the
    root lead through is a trail, as is the root; of the rest, what is less than or exactly `ghost_span` below the
    required depth is a ghost.

    Args:
        set_start: int64[sets + 1], into the messages.
        root: int32[sets], the message that is a set's root, or -1.
        start: int64[messages + 1].
        previous: int32[edges], earlier messages. The shortest path goes to the earliest previous, again and again.
        depth: int64[messages].
        required: int64[sets], of `required_depths`.
        ghost_span: How many depths below the required one are remembered.

    Returns:
        int8[messages], indices into `PURPOSES`.
    """
    purpose = np.zeros(len(depth), np.int8)
    is_walked = np.zeros(len(depth), np.bool_)
    for s in range(len(root)):
        needed = required[s]
        if needed == NOTHING_REQUIRED:
            continue
        for m in range(set_start[s], set_start[s + 1]):
            if root[s] < 0 or depth[m] >= needed:
                purpose[m] = GOAL
            elif depth[m] >= needed - ghost_span:
                purpose[m] = GHOST
        if root[s] < 0:
            continue
        if purpose[root[s]] != GOAL:
            purpose[root[s]] = TRAIL
        for m in range(set_start[s], set_start[s + 1]):
            if depth[m] < needed:
                continue
            if depth[m] > needed:
                break
            at = m
            # What was walked before need not be walked again.
            while start[at] < start[at + 1] and not is_walked[at]:
                is_walked[at] = True
                at = previous[start[at] : start[at + 1]].min()
                if purpose[at] != GOAL:
                    purpose[at] = TRAIL
    return purpose
