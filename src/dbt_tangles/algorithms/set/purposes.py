"""The purpose of each message of a pzp set (goal, trail, ghost or none), and the action that pruning may take.

Source: pzp-goals 1.0.1 and pzp-set 1.0.1, minRequiredDepth and minGhostDepth (purposes). Actions are the project's.
"""

import numpy as np

from dbt_tangles.algorithms.graph.arrays import sums
from dbt_tangles.kernel_runtime.compiled import compiled

PURPOSES = ("none", "ghost", "trail", "goal")
NONE, GHOST, TRAIL, GOAL = range(4)
NOTHING_REQUIRED = -(2**63)


ACTIONS = ("keep", "erase", "delete")
KEEP, ERASE, DELETE = range(3)


def pruning_actions(is_kept: np.ndarray, is_bridged: np.ndarray, start: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """Choose the pruning action of each message so that every item stays the same, now and after further messages.

    The data of every message that is not kept may be erased. A whole message may be deleted if its followers link back
    beyond it, since peers refuse a message whose previous messages are all unknown. The previous messages of a message
    without such a link stay. The decision record on pruning proves that this is the most that pruning may remove.

    Args:
        is_kept: bool[messages], whether the message decides an item, is a root, or is in a set without root.
        is_bridged: bool[messages], see `reachability`.
        start: int64[messages + 1].
        previous: int32[edges].

    Returns:
        int8[messages], into `ACTIONS`.
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
    """Find the required depth of each set: the least depth of an item root.

    Args:
        set_start: int64[sets + 1], into the messages.
        root: int32[sets], the root of each set, or -1.
        is_item_root: bool[messages].
        depth: int64[messages].

    Returns:
        int64[sets]: 0 for a set without its root, which keeps all messages; `NOTHING_REQUIRED` without item roots.
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
def purposes(tangles, root, required, ghost_span):
    """Find the purpose of each message.

    A message at or above the required depth is a goal. Below it, the root and the messages on the shortest paths from
    the messages at the required depth to the root are trails; of the rest, messages at most `ghost_span` below it are
    ghosts.

    Args:
        tangles: A `set_arrays.SetTangles`. A shortest path goes from each message to its earliest previous one.
        root: int32[sets], the root of each set, or -1.
        required: int64[sets], from `required_depths`.
        ghost_span: The number of depths below the required depth at which messages are ghosts.

    Returns:
        int8[messages], into `PURPOSES`.
    """
    set_start, start, previous, depth = tangles
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
            # An earlier path covers the rest.
            while start[at] < start[at + 1] and not is_walked[at]:
                is_walked[at] = True
                at = previous[start[at] : start[at + 1]].min()
                if purpose[at] != GOAL:
                    purpose[at] = TRAIL
    return purpose
