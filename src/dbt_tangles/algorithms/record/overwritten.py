"""Follows a field that messages overwrite: its setters at each member, and conflicts between branches.

A breadth-first search finds the setter of a branch: the last message in it that set the field. A branch of a merge
counts unless another branch contains its setter. Branches that count conflict if their values differ.

Source: @tangle/overwrite 3.0.1, `isConflict` and `isValidMerge`.
"""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from dbt_tangles.algorithms.record.strategies import equality_key


class Node(NamedTuple):
    """A member of a record whose fields are well-formed. Its number is its place by depth, then id."""

    message_id: str
    previous: list[int]  # its distinct previous, in the order in which it lists them
    searched: list[int]  # the same, in the order in which the peers search them: by their first place in any list
    changes: Mapping[str, Mapping[str, Any]]  # its transformation of each field that it changes
    ancestors: int  # the numbers of its ancestors, as the bits of an integer


class Branch(NamedTuple):
    """A branch that counts: its last message, and the message that set the field in it."""

    tip: int
    setter: int


class OverwrittenField:
    """A field at each node.

    Attributes:
        setters: For each node the messages that gave its value; empty before the field was set.
        is_conflict: For each node whether it leaves a conflict between its previous.
    """

    def __init__(self, field: str, nodes: Sequence[Node]) -> None:
        self.setters: list[tuple[int, ...]] = []
        self.is_conflict: list[bool] = []
        self._nodes = nodes
        self._keys = {
            n: equality_key(node.changes[field]["set"]) for n, node in enumerate(nodes) if field in node.changes
        }
        # For each node the distance to the nearest setter, and the setter, if there is one.
        self._nearest: list[tuple[int, int] | None] = []
        for number, node in enumerate(nodes):
            setters, is_conflict = (number,), False
            nearest: tuple[int, int] | None = (0, number)
            if number not in self._keys:
                # The search visits levels, and in a level the members behind earlier previous first.
                found = filter(None, (self._nearest[other] for other in node.searched))
                nearest = min(found, key=itemgetter(0), default=None)
                nearest = nearest and (nearest[0] + 1, nearest[1])
                setters, is_conflict = self.at(node.previous)
            self._nearest.append(nearest)
            self.setters.append(setters)
            self.is_conflict.append(is_conflict)

    def at(self, tips: Sequence[int]) -> tuple[tuple[int, ...], bool]:
        """Return the setters of the value that a message takes over from tips, and whether these are in conflict."""
        if len(tips) == 1:
            return self.setters[tips[0]], False
        branches = self.branches(tips)
        setters = tuple(dict.fromkeys(branch.setter for branch in branches))
        return setters, len({self._keys[setter] for setter in setters}) > 1

    def branches(self, tips: Sequence[int]) -> list[Branch]:
        """List the branches that count; the tips are distinct."""
        found = [Branch(tip, nearest[1]) for tip in tips if (nearest := self._nearest[tip]) is not None]
        if len({branch.setter for branch in found}) == 1:
            return found[-1:]
        later = [0]
        for branch in reversed(found):
            later.append(later[-1] | self._nodes[branch.tip].ancestors)
        kept, earlier = [], 0
        for branch in found:
            later.pop()
            if not ((earlier | later[-1]) >> branch.setter) & 1:
                kept.append(branch)
                earlier |= self._nodes[branch.tip].ancestors
        return kept
