"""Reduces a record by the literal rules: a breadth-first search for each branch, and full histories."""

import json
from collections import Counter, deque

from dbt_tangles.algorithms.record.reduction import Member, Record

IN_CONFLICT = object()


def ids_left_out(record: Record, reason: str | None = None) -> list[str]:
    """List the messages that a record leaves out, those with a reason if one is given."""
    return [each.message_id for each in record.left_out if reason in (None, each.reason)]


class Oracle:
    """A record. Its members come in the order of depth, then id, and contain only valid transformations."""

    def __init__(self, members: list[Member], strategies: dict[str, str]):
        self.strategies = strategies
        self.data = {member.message_id: member.content for member in members}
        self.previous = {member.message_id: [*dict.fromkeys(member.previous)] for member in members}
        listed = [*dict.fromkeys(other for previous in self.previous.values() for other in previous)]
        self.searched = {node: sorted(previous, key=listed.index) for node, previous in self.previous.items()}
        self.left: list[str] = []
        self.state: dict[str, dict] = {}
        for node, previous in self.previous.items():
            if {*previous} <= {*self.left} and not (len(previous) > 1 and self.unresolved(node)):
                self.left.append(node)
                self.state[node] = {field: self.state_of(node, field) for field in self.overwritten()}

    def overwritten(self) -> list[str]:
        """The fields that messages overwrite."""
        return [field for field, strategy in self.strategies.items() if strategy == "overwrite"]

    def sets(self, node: str, field: str) -> bool:
        """Whether a member changes a field."""
        return bool(self.data[node].get(field))

    def history(self, node: str) -> set[str]:
        """The ancestors of a member."""
        return {part for other in self.previous[node] for part in (other, *self.history(other))}

    def last_setter(self, tip: str, field: str) -> str | None:
        """The first member that sets the field, in a breadth-first search from a tip."""
        queue = deque([tip])
        while queue:
            node = queue.popleft()
            if self.sets(node, field):
                return node
            queue.extend(self.searched[node])
        return None

    def branches(self, tips: list[str], field: str) -> dict[str, str]:
        """The setters by tip. A tip is left out if its setter is in the history of another such tip."""
        found = {tip: setter for tip in tips if (setter := self.last_setter(tip, field))}
        for tip in [*found]:
            if any(found[tip] in self.history(other) for other in found if other != tip):
                del found[tip]
        return found

    def values(self, tips: list[str], field: str) -> list:
        """The values of the branches."""
        return [self.data[setter][field]["set"] for setter in self.branches(tips, field).values()]

    def in_conflict(self, tips: list[str], field: str) -> bool:
        """Whether tips set different values."""
        # Equal values have equal texts, because keys are sorted and the tests print each number in one way.
        return len({json.dumps(value, sort_keys=True) for value in self.values(tips, field)}) > 1

    def unresolved(self, node: str) -> bool:
        """Whether a merge leaves a conflict between its previous messages."""
        fields = [field for field in self.overwritten() if not self.sets(node, field)]
        return any(self.in_conflict(self.previous[node], field) for field in fields)

    def state_of(self, node: str, field: str):
        """The value of a field at a member."""
        if self.sets(node, field):
            return self.data[node][field]["set"]
        if len(self.previous[node]) == 1:
            return self.state[self.previous[node][0]][field]
        return next(iter(self.values(self.previous[node], field)), None)

    def tips(self) -> list[str]:
        """The tips of the remaining members."""
        followed = {other for node in self.left for other in self.previous[node]}
        return sorted({*self.left} - followed)

    def value(self, field: str):
        """The value at the tips, or IN_CONFLICT if they set different values."""
        tips = self.tips()
        if self.strategies[field] == "simple_set":
            weights = Counter()
            for node in self.left:
                weights.update(self.data[node].get(field, {}))
            return sorted(entry for entry, weight in weights.items() if weight > 0)
        if self.strategies[field] == "complex_set":
            return self.intervals(field)
        if len(tips) == 1:
            return self.state[tips[0]][field]
        return IN_CONFLICT if self.in_conflict(tips, field) else next(iter(self.values(tips, field)), None)

    def intervals(self, field: str) -> dict[str, list[dict]]:
        """The intervals of each entry of a complex set, computed position by position; the positions are small."""
        weights = Counter()
        for node in self.left:
            for entry, events in self.data[node].get(field, {}).items():
                for position, weight in events.items():
                    weights[entry, int(position)] += weight
        found: dict[str, list[dict]] = {}
        for (entry, position), weight in sorted(weights.items()):
            intervals = found.setdefault(entry, [])
            is_open = bool(intervals) and intervals[-1]["end"] is None
            if weight > 0 and not is_open:
                intervals.append({"start": position, "end": None})
            elif is_open and (weight < 0 or (weight == 0 and len(self.left) == 1)):
                intervals[-1]["end"] = position
        return {entry: intervals for entry, intervals in found.items() if intervals}
