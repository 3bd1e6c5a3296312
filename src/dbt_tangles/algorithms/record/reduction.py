"""Reduces the tangle of a record to the value of each field at its tips, and finds conflicts between tips.

The value of a field is its value at a next message that follows all tips and leaves every field alone.

Source: @tangle/reduce 5.0.5 and @tangle/strategy 4.1.2.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dbt_tangles.algorithms.record.graph import LeftOut, Member, RecordGraph, build_graph
from dbt_tangles.algorithms.record.overwritten import OverwrittenField
from dbt_tangles.algorithms.record.sets import present_entries, present_intervals
from dbt_tangles.algorithms.record.strategies import OVERWRITE, SIMPLE_SET, to_json
from dbt_tangles.reasons import RecordReason

REDUCED, MALFORMED_ROOT, TOO_LARGE = "reduced", "malformed_root", "too_large"
#: Bounds of the work for one record: its members, and the links of its merges times the fields that messages overwrite.
MOST_MEMBERS = 10_000
MOST_COMPARISONS = 2_000_000
#: A field lists at most so many values in conflict.
MOST_VALUES = 100


class ConflictingValue(NamedTuple):
    """A value in conflict: the tip of its branch, the message that set it, and the value as JSON."""

    tip_id: str
    message_id: str
    value: str


class FieldState(NamedTuple):
    """A field of a record.

    Attributes:
        field: Its name.
        strategy: `overwrite`, `simple_set` or `complex_set`.
        value: The value at the tips as JSON; None with a conflict.
        is_conflict: Whether tips set different values.
        set_by: The messages that gave the value, by code point. With a conflict those that set the conflicting values.
            For a set all messages that changed it.
        conflicting_values: The values in conflict by tip, at most `MOST_VALUES`.
    """

    field: str
    strategy: str
    value: str | None
    is_conflict: bool
    set_by: list[str]
    conflicting_values: list[ConflictingValue]


class Record(NamedTuple):
    """A record."""

    status: str  # `REDUCED`, `MALFORMED_ROOT` or `TOO_LARGE`; only a reduced record has tips and fields
    tips: list[str]  # The tips of the messages that count, by code point
    fields: list[FieldState]  # The fields by name
    left_out: list[LeftOut]  # The members that do not count, by code point


def reduce_record(members: Sequence[Member], strategies: Mapping[str, str]) -> Record:
    """Reduce one record.

    Members with a malformed field, merges that leave a conflict unresolved, and the followers of both are left out.

    Args:
        members: All members of the record's tangle, by depth, then id.
        strategies: The strategy of each field.

    Raises:
        ValueError: A member lists an id from outside of the earlier members.
    """
    if len(members) > MOST_MEMBERS:
        return Record(TOO_LARGE, [], [], [])
    graph = build_graph(members, strategies)
    if not graph.ids:
        return Record(MALFORMED_ROOT, [], [], sorted(graph.left_out))
    overwritten = {
        field: OverwrittenField()
        for field, strategy in strategies.items()
        if strategy == OVERWRITE and any(field in changes for changes in graph.changes)
    }
    if sum(len(previous) for previous in graph.previous if len(previous) > 1) * len(overwritten) > MOST_COMPARISONS:
        return Record(TOO_LARGE, [], [], [])
    walk = _walk(graph, overwritten)
    fields = [
        _overwritten_state(field, graph, walk, overwritten.get(field))
        if strategy == OVERWRITE
        else _set_state(field, strategy, graph, walk)
        for field, strategy in sorted(strategies.items())
    ]
    left_out = sorted([*graph.left_out, *walk.left_out.values()])
    return Record(REDUCED, [graph.ids[tip] for tip in walk.tips], fields, left_out)


class _Walk(NamedTuple):
    """The result of the walk: the members that do not count, the ancestors of each as bits, and the tips by id."""

    left_out: dict[int, LeftOut]
    ancestors: list[int]
    tips: list[int]


def _walk(graph: RecordGraph, overwritten: Mapping[str, OverwrittenField]) -> _Walk:
    """Judge the members in order, and note the state of overwritten fields at each."""
    walk = _Walk({}, [], [])
    for node, previous in enumerate(graph.previous):
        taken: dict[str, tuple[int, ...]] = {}
        if cause := next((walk.left_out[other] for other in previous if other in walk.left_out), None):
            walk.left_out[node] = cause.follower(graph.ids[node])
        else:
            taken, unresolved = _taken_over(graph, overwritten, walk, node)
            if unresolved:
                reason = RecordReason.UNRESOLVED_MERGE.value
                walk.left_out[node] = LeftOut(graph.ids[node], reason, unresolved, None)
        past = 0
        for other in previous:
            past |= walk.ancestors[other] | 1 << other
        walk.ancestors.append(past)
        for field, states in overwritten.items():
            change = graph.changes[node].get(field)
            if change is not None:
                states.add_setter(node, change["set"])
            else:
                states.add_follower(graph.searched[node], taken.get(field, ()))
    counted = [node for node in range(len(graph.ids)) if node not in walk.left_out]
    followed = {other for node in counted for other in graph.previous[node]}
    tips = [node for node in counted if node not in followed]
    walk.tips.extend(sorted(tips, key=graph.ids.__getitem__))
    return walk


def _taken_over(
    graph: RecordGraph, overwritten: Mapping[str, OverwrittenField], walk: _Walk, node: int
) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """Return the setters of the values that a member takes over, by field, and the fields whose conflict it leaves."""
    previous = graph.previous[node]
    taken, unresolved = {}, []
    for field, states in overwritten.items():
        if field in graph.changes[node] or not previous:
            continue
        if len(previous) == 1:
            taken[field] = states.setters[previous[0]]
            continue
        branches = states.branches(previous, walk.ancestors)
        if states.are_in_conflict(branches):
            unresolved.append(field)
        taken[field] = tuple(dict.fromkeys(branch.setter for branch in branches))
    return taken, sorted(unresolved)


def _overwritten_state(field: str, graph: RecordGraph, walk: _Walk, states: OverwrittenField | None) -> FieldState:
    if states is None:
        return FieldState(field, OVERWRITE, "null", False, [], [])
    values: list[ConflictingValue] = []
    if len(walk.tips) == 1:
        setters, is_conflict = states.setters[walk.tips[0]], False
    else:
        branches = states.branches(walk.tips, walk.ancestors)
        setters, is_conflict = tuple(branch.setter for branch in branches), states.are_in_conflict(branches)
        if is_conflict:
            values = [
                ConflictingValue(graph.ids[branch.tip], graph.ids[branch.setter], to_json(states.value(branch.setter)))
                for branch in branches[:MOST_VALUES]
            ]
    value = None if is_conflict else to_json(states.value(setters[0])) if setters else "null"
    set_by = sorted({graph.ids[setter] for setter in setters})
    return FieldState(field, OVERWRITE, value, is_conflict, set_by, values)


def _set_state(field: str, strategy: str, graph: RecordGraph, walk: _Walk) -> FieldState:
    setters = [node for node, changes in enumerate(graph.changes) if node not in walk.left_out and field in changes]
    transformations = [graph.changes[node][field] for node in setters]
    if strategy == SIMPLE_SET:
        value = to_json(present_entries(transformations))
    else:
        value = to_json(present_intervals(transformations, keeps_zeros=len(graph.ids) - len(walk.left_out) == 1))
    return FieldState(field, strategy, value, False, sorted(graph.ids[node] for node in setters), [])
