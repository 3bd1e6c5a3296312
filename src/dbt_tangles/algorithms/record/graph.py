"""Builds the graph of a record: the members of its tangle without malformed messages and their followers.

Source: @tangle/graph 3.2.0 (connected nodes, order of previous), and the filter of updates in ssb-crut 6.1.1.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from dbt_tangles.algorithms.record.strategies import is_valid


class Member(NamedTuple):
    """A member of a record's tangle.

    Attributes:
        message_id: Its id.
        previous: The listed ids, all of them members; repetitions are allowed. Empty for the root.
        content: The parsed content, a JSON object; None for other content.
    """

    message_id: str
    previous: Sequence[str]
    content: Mapping[str, Any] | None


class RecordGraph(NamedTuple):
    """The members that count, numbered by depth, then id.

    Attributes:
        ids: The id of each member.
        previous: For each member its distinct previous, in the order in which it lists them.
        searched: The same, in the order in which the peers search them: by their first appearance in any list.
        changes: For each member its transformation of each field that it changes.
        malformed: The ids of members with a malformed field, by code point.
        left_out_count: The number of malformed members and of their followers.
    """

    ids: list[str]
    previous: list[list[int]]
    searched: list[list[int]]
    changes: list[dict[str, dict[str, Any]]]
    malformed: list[str]
    left_out_count: int


def build_graph(members: Sequence[Member], strategies: Mapping[str, str]) -> RecordGraph:
    """Leave out malformed members and their followers, and number all other members.

    Args:
        members: All members of one tangle, by depth, then id; so each follows its previous.
        strategies: The strategy of each field.

    Raises:
        ValueError: A member lists an id from outside of the earlier members.
    """
    numbers: dict[str, int | None] = {}
    graph = RecordGraph([], [], [], [], [], 0)
    for member in members:
        try:
            previous = [numbers[other] for other in dict.fromkeys(member.previous)]
        except KeyError as error:
            raise ValueError(
                f"{member.message_id} follows {error.args[0]}, which is no earlier member: pass all members by depth"
            ) from None
        numbers[member.message_id] = None
        changes = _changes(member.content, strategies)
        if changes is None:
            graph.malformed.append(member.message_id)
        elif None not in previous:
            numbers[member.message_id] = len(graph.ids)
            graph.ids.append(member.message_id)
            graph.previous.append(previous)
            graph.changes.append(changes)
    first_listed = {node: place for place, node in enumerate(dict.fromkeys(chain.from_iterable(graph.previous)))}
    graph.searched.extend(sorted(previous, key=first_listed.__getitem__) for previous in graph.previous)
    return graph._replace(malformed=sorted(graph.malformed), left_out_count=len(members) - len(graph.ids))


def _changes(content: Mapping[str, Any] | None, strategies: Mapping[str, str]) -> dict[str, dict[str, Any]] | None:
    """Return the transformations of a content that change a field; None if a transformation is malformed."""
    if content is None:
        return None
    found = {field: content[field] for field in strategies if field in content}
    if not all(is_valid(strategies[field], change) for field, change in found.items()):
        return None
    return {field: change for field, change in found.items() if change}
