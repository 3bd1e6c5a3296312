"""The purpose of each message of a pzp set (goal, trail, ghost or none), and the action that pruning may take.

Source: pzp-goals 1.0.1 and pzp-set 1.0.1, minRequiredDepth and minGhostDepth (purposes). Actions are the project's.
"""

import numpy as np

from dbt_tangles.algorithms.set.set_messages import SetMessages, SetTangles
from dbt_tangles.columns.arrays import sums
from dbt_tangles.kernel_runtime.compiled import compiled

PURPOSES = ("none", "ghost", "trail", "goal")
NONE, GHOST, TRAIL, GOAL = range(4)
ACTIONS = ("keep", "erase", "delete")
KEEP, ERASE, DELETE = range(3)


def pruning_actions(is_kept: np.ndarray, is_bridged: np.ndarray, start: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """Choose the pruning action of each message so that every item stays the same, now and after further messages.

    The data of every message that is not kept may be erased. A whole message may be deleted if its followers link back
    beyond it, since peers refuse a message whose previous messages are all unknown. The previous messages of a message
    without such a link stay. The decision record on pruning proves that this is the most that pruning may remove.

    Args:
        is_kept: bool[messages], whether the message decides an item, is a root, or is in a set without root.
        is_bridged: bool[messages], see `set_search.Findings`.
        start: int64[messages + 1].
        previous: int32[edges].

    Returns:
        int8[messages], into `ACTIONS`.
    """
    may_go = is_bridged & ~is_kept
    is_sound = sums(~may_go[previous], start) > 0
    may_go[previous[~np.repeat(is_sound, np.diff(start))]] = False
    return np.where(is_kept, KEEP, np.where(may_go, DELETE, ERASE)).astype(np.int8)


def find_purposes(messages: SetMessages, tangles: SetTangles, is_item_root: np.ndarray, ghost_span: int) -> np.ndarray:
    """Find the purpose of each message.

    The required depth of a set is the least depth of an item root. A message at or above it is a goal, as is every
    message of a set without its root. Below it, the root and the messages on the shortest paths from the messages at
    the required depth to the root are trails; of the rest, messages at most `ghost_span` below it are ghosts. A set
    without item roots requires no message. A shortest path goes from each message to its earliest previous one.

    Returns:
        int8[messages], into `PURPOSES`.
    """
    item_roots = np.flatnonzero(is_item_root)
    sets, first = np.unique(messages.set_of[item_roots], return_index=True)
    required = np.zeros(len(messages.root), np.int64)
    required[sets] = messages.depth[item_roots[first]]
    is_required = np.zeros(len(messages.root), np.bool_)
    is_required[sets] = True
    needed, is_required = required[messages.set_of], is_required[messages.set_of]
    is_trail = is_required & (messages.depth == needed)
    _mark_paths(tangles.start, tangles.previous, is_trail)
    is_trail |= messages.flags_at(messages.root)
    cases = [
        ~messages.is_rooted | (is_required & (messages.depth >= needed)),
        is_required & is_trail,
        is_required & (messages.depth >= needed - ghost_span),
    ]
    return np.select(cases, [GOAL, TRAIL, GHOST], NONE).astype(np.int8)


@compiled
def _mark_paths(start, previous, is_marked):
    """Mark the messages on the shortest paths from marked messages to the root."""
    for m in range(len(is_marked) - 1, -1, -1):
        if is_marked[m] and start[m] < start[m + 1]:
            is_marked[previous[start[m] : start[m + 1]].min()] = True
