"""Reduces the tangle of a record to the value of each field at its tips, and finds conflicts between tips.

The value of a field is its value at a next message that follows all tips and leaves every field alone.

Source: @tangle/reduce 5.0.5, @tangle/strategy 4.1.2, @tangle/graph 3.2.0 (connected nodes, order of previous), and the
filter of updates in ssb-crut 6.1.1.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from dbt_tangles.algorithms.record.overwritten import Node, OverwrittenField
from dbt_tangles.algorithms.record.sets import present_entries, present_intervals
from dbt_tangles.algorithms.record.strategies import OVERWRITE, SIMPLE_SET, malformed_fields, to_json
from dbt_tangles.kernel_runtime.kernel import kernel
from dbt_tangles.kernel_runtime.row_schema import Int32
from dbt_tangles.reasons import RecordReason

REDUCED, MALFORMED_ROOT, TOO_LARGE = "reduced", "malformed_root", "too_large"
#: Bounds of the work for one record: its members, and the links of its merges times the fields that messages overwrite.
MOST_MEMBERS = 10_000
MOST_COMPARISONS = 2_000_000
#: A field lists at most so many values in conflict.
MOST_VALUES = 100


class Member(NamedTuple):
    """A member of a record's tangle."""

    message_id: str
    previous: Sequence[str]  # the listed ids, all of them members; repetitions are allowed. Empty for the root
    content: Mapping[str, Any] | None  # the parsed content, a JSON object; None for other content


class LeftOut(NamedTuple):
    """A member that does not count."""

    message_id: str
    reason: str  # a code of `RecordReason`
    fields: list[str]  # the malformed fields, or those whose conflict a merge leaves; else empty
    cause_id: str | None  # for a follower the message behind it: that of its first previous that does not count

    def follower(self, message_id: str) -> "LeftOut":
        """Leave out a message that follows this one."""
        return LeftOut(message_id, RecordReason.FOLLOWS_LEFT_OUT.value, [], self.cause_id or self.message_id)


class ConflictingValue(NamedTuple):
    """A value in conflict."""

    tip_id: str  # the tip of its branch
    message_id: str  # the message that set it
    value: str  # JSON


class FieldState(NamedTuple):
    """A field of a record."""

    field: str
    strategy: str  # `overwrite`, `simple_set` or `complex_set`
    value: str | None  # the value at the tips as JSON; None with a conflict
    is_conflict: bool  # whether tips set different values
    set_by: list[str]  # the messages that gave the value or the conflicting values, or changed the set; by code point
    conflicting_values: list[ConflictingValue]  # by tip, at most `MOST_VALUES`


class Record(NamedTuple):
    """A record."""

    status: str  # `REDUCED`, `MALFORMED_ROOT` or `TOO_LARGE`; only a reduced record has tips and fields
    tips: list[str]  # the tips of the messages that count, by code point
    fields: list[FieldState]  # by name
    left_out: list[LeftOut]  # by code point


class RecordMessage(NamedTuple):
    """A row of the input: a member of a record."""

    tangle_name: str
    root_id: str
    message_id: str
    depth: Int32
    previous: list[str] | None
    content: str | None  # JSON
    reducer: str  # the JSON map of fields to strategies


class RecordRow(NamedTuple):
    """A row of the result: the tangle, and its `Record`."""

    tangle_name: str
    root_id: str
    status: str
    tips: list[str]
    fields: list[FieldState]
    left_out: list[LeftOut]


@kernel(keys=["tangle_name", "root_id"], reads=RecordMessage, writes=RecordRow, order=["depth", "message_id"])
def reduce_records(rows: Sequence[RecordMessage], parse: Callable) -> Iterator[RecordRow]:
    """Reduce the record of a tangle, from its messages by depth, then id; `parse` makes `Member.content` of a text."""
    members = [Member(row.message_id, row.previous or [], parse(row.content)) for row in rows]
    yield RecordRow(rows[0].tangle_name, rows[0].root_id, *reduce_record(members, orjson.loads(rows[0].reducer)))


def reduce_record(members: Sequence[Member], strategies: Mapping[str, str]) -> Record:
    """Reduce one record.

    Members with a malformed field, merges that leave a conflict unresolved, and the followers of both are left out.

    Args:
        members: All members of the record's tangle, by depth, then id; so each follows its previous.
        strategies: The strategy of each field.
    """
    if len(members) > MOST_MEMBERS:
        return Record(TOO_LARGE, [], [], [])
    left_out: dict[str, LeftOut] = {}
    nodes = _well_formed(members, strategies, left_out)
    if not nodes:
        return Record(MALFORMED_ROOT, [], [], sorted(left_out.values()))
    overwritten = [field for field, strategy in strategies.items() if strategy == OVERWRITE]
    overwritten = [field for field in overwritten if any(field in node.changes for node in nodes)]
    if sum(len(node.previous) for node in nodes if len(node.previous) > 1) * len(overwritten) > MOST_COMPARISONS:
        return Record(TOO_LARGE, [], [], [])
    states = {field: OverwrittenField(field, nodes) for field in overwritten}
    counted = _counted(nodes, states, left_out)
    followed = {other for number in counted for other in nodes[number].previous}
    tips = sorted({*counted} - followed, key=lambda tip: nodes[tip].message_id)
    fields = [
        _overwritten_state(field, nodes, tips, states.get(field))
        if strategy == OVERWRITE
        else _set_state(field, strategy, [nodes[number] for number in counted])
        for field, strategy in sorted(strategies.items())
    ]
    return Record(REDUCED, [nodes[tip].message_id for tip in tips], fields, sorted(left_out.values()))


def _well_formed(members: Sequence[Member], strategies: Mapping[str, str], left_out: dict[str, LeftOut]) -> list[Node]:
    """Leave out malformed members and their followers, and number all other members."""
    nodes: list[Node] = []
    numbers: dict[str, int] = {}
    places: dict[int, int] = {}
    for member in members:
        listed = list(dict.fromkeys(member.previous))
        malformed = malformed_fields(member.content or {}, strategies)
        cause = next((left_out[other] for other in listed if other in left_out), None)
        if member.content is None or malformed:
            reason = RecordReason.MALFORMED_FIELD.value
            left_out[member.message_id] = LeftOut(member.message_id, reason, malformed, None)
        elif cause:
            left_out[member.message_id] = cause.follower(member.message_id)
        else:
            previous = [numbers[other] for other in listed]
            ancestors = 0
            for other in previous:
                places.setdefault(other, len(places))
                ancestors |= nodes[other].ancestors | 1 << other
            changes = {field: member.content[field] for field in strategies if member.content.get(field)}
            numbers[member.message_id] = len(nodes)
            searched = sorted(previous, key=places.__getitem__)
            nodes.append(Node(member.message_id, previous, searched, changes, ancestors))
    return nodes


def _counted(nodes: Sequence[Node], states: Mapping[str, OverwrittenField], left_out: dict[str, LeftOut]) -> list[int]:
    """Leave out unresolved merges and their followers; return the numbers of all other members."""
    counted = []
    for number, node in enumerate(nodes):
        listed = (nodes[other].message_id for other in node.previous)
        cause = next((left_out[other] for other in listed if other in left_out), None)
        unresolved = sorted(field for field, state in states.items() if state.is_conflict[number])
        if cause:
            left_out[node.message_id] = cause.follower(node.message_id)
        elif unresolved:
            reason = RecordReason.UNRESOLVED_MERGE.value
            left_out[node.message_id] = LeftOut(node.message_id, reason, unresolved, None)
        else:
            counted.append(number)
    return counted


def _overwritten_state(
    field: str, nodes: Sequence[Node], tips: Sequence[int], state: OverwrittenField | None
) -> FieldState:
    setters, is_conflict = state.at(tips) if state else ((), False)

    def value(setter: int) -> str:
        return to_json(nodes[setter].changes[field]["set"])

    conflicting = [
        ConflictingValue(nodes[branch.tip].message_id, nodes[branch.setter].message_id, value(branch.setter))
        for branch in (state.branches(tips)[:MOST_VALUES] if is_conflict else ())
    ]
    at_tips = None if is_conflict else value(setters[0]) if setters else "null"
    set_by = sorted(nodes[setter].message_id for setter in setters)
    return FieldState(field, OVERWRITE, at_tips, is_conflict, set_by, conflicting)


def _set_state(field: str, strategy: str, counted: Sequence[Node]) -> FieldState:
    setters = [node for node in counted if field in node.changes]
    transformations = [node.changes[field] for node in setters]
    if strategy == SIMPLE_SET:
        value = to_json(present_entries(transformations))
    else:
        value = to_json(present_intervals(transformations, keeps_zeros=len(counted) == 1))
    return FieldState(field, strategy, value, False, sorted(node.message_id for node in setters), [])
