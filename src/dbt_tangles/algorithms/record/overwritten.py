"""Follows a field that messages overwrite: its setters at each member, and conflicts between branches.

A breadth-first search finds the setter of a branch: the last message in it that set the field. A branch of a merge
counts unless another branch contains its setter. Branches that count conflict if their values differ.

Source: @tangle/overwrite 3.0.1, `isConflict` and `isValidMerge`.
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from dbt_tangles.algorithms.record.strategies import equality_key


class Branch(NamedTuple):
    """A branch that counts: its last message, and the message that set the field in it."""

    tip: int
    setter: int


class OverwrittenField:
    """The state of a field at each member. Members are added in the order of their numbers.

    Attributes:
        setters: For each member the messages that gave its value; empty before the field was set.
    """

    def __init__(self) -> None:
        self.setters: list[tuple[int, ...]] = []
        # For each member the distance to the nearest setter, and the setter, if there is one.
        self._nearest: list[tuple[int, int] | None] = []
        self._values: dict[int, Any] = {}
        self._keys: dict[int, Hashable] = {}

    def value(self, setter: int) -> Any:
        """Return the value that a setter gave the field."""
        return self._values[setter]

    def add_setter(self, node: int, value: Any) -> None:
        """Add a member that sets the field."""
        self._values[node] = value
        self._keys[node] = equality_key(value)
        self._nearest.append((0, node))
        self.setters.append((node,))

    def add_follower(self, searched: Sequence[int], setters: tuple[int, ...]) -> None:
        """Add a member that does not set the field.

        Args:
            searched: Its previous, in the order of the search.
            setters: The messages that gave the value which it takes over.
        """
        best = None
        for other in searched:
            found = self._nearest[other]
            # The search visits levels, and in a level the members behind earlier previous first.
            if found is not None and (best is None or found[0] + 1 < best[0]):
                best = (found[0] + 1, found[1])
        self._nearest.append(best)
        self.setters.append(setters)

    def branches(self, tips: Sequence[int], ancestors: Sequence[int]) -> list[Branch]:
        """List the branches that count.

        Args:
            tips: The last message of each branch, distinct.
            ancestors: For each member its ancestors as the set bits of an integer.
        """
        found = [Branch(tip, nearest[1]) for tip in tips if (nearest := self._nearest[tip]) is not None]
        if len({branch.setter for branch in found}) == 1:
            return found[-1:]
        later = [0] * (len(found) + 1)
        for place in range(len(found) - 1, -1, -1):
            later[place] = later[place + 1] | ancestors[found[place].tip]
        kept, earlier = [], 0
        for place, branch in enumerate(found):
            if not ((earlier | later[place + 1]) >> branch.setter) & 1:
                kept.append(branch)
                earlier |= ancestors[branch.tip]
        return kept

    def are_in_conflict(self, branches: Sequence[Branch]) -> bool:
        """Whether branches set different values."""
        return len({self._keys[branch.setter] for branch in branches}) > 1
