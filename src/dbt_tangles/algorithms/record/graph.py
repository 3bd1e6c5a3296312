"""Builds the graph of a record: the members of its tangle without malformed messages and their followers.

Source: @tangle/graph 3.2.0 (connected nodes, order of previous), and the filter of updates in ssb-crut 6.1.1.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from dbt_tangles.algorithms.record.strategies import is_valid
from dbt_tangles.reasons import RecordReason


class Member(NamedTuple):
    """A member of a record's tangle."""

    message_id: str  # Its id
    previous: Sequence[str]  # The listed ids, all of them members; repetitions are allowed. Empty for the root
    content: Mapping[str, Any] | None  # The parsed content, a JSON object; None for other content


class LeftOut(NamedTuple):
    """A member that does not count.

    Attributes:
        message_id: Its id.
        reason: A code of `RecordReason`.
        fields: The malformed fields, or those whose conflict a merge leaves; empty if the content is no object, and for
            a follower.
        cause_id: For a follower the malformed message or unresolved merge behind it: that of its first previous that
            does not count.
    """

    message_id: str
    reason: str
    fields: list[str]
    cause_id: str | None

    def follower(self, message_id: str) -> "LeftOut":
        """Leave out a message that follows this one."""
        return LeftOut(message_id, RecordReason.FOLLOWS_LEFT_OUT.value, [], self.cause_id or self.message_id)


class RecordGraph(NamedTuple):
    """The members that count, numbered by depth, then id.

    Attributes:
        ids: The id of each member.
        previous: For each member its distinct previous, in the order in which it lists them.
        searched: The same, in the order in which the peers search them: by their first appearance in any list.
        changes: For each member its transformation of each field that it changes.
        left_out: The malformed members and their followers, by depth.
    """

    ids: list[str]
    previous: list[list[int]]
    searched: list[list[int]]
    changes: list[dict[str, dict[str, Any]]]
    left_out: list[LeftOut]


def build_graph(members: Sequence[Member], strategies: Mapping[str, str]) -> RecordGraph:
    """Leave out malformed members and their followers, and number all other members.

    Args:
        members: All members of one tangle, by depth, then id; so each follows its previous.
        strategies: The strategy of each field.

    Raises:
        ValueError: A member lists an id from outside of the earlier members.
    """
    numbers: dict[str, int | LeftOut] = {}
    graph = RecordGraph([], [], [], [], [])
    for member in members:
        try:
            previous = [numbers[other] for other in dict.fromkeys(member.previous)]
        except KeyError as error:
            raise ValueError(
                f"{member.message_id} follows {error.args[0]}, which is no earlier member: pass all members by depth"
            ) from None
        left_out = _judge(member, previous, strategies)
        numbers[member.message_id] = left_out or len(graph.ids)
        if left_out:
            graph.left_out.append(left_out)
            continue
        graph.ids.append(member.message_id)
        graph.previous.append(previous)
        found = {field: member.content[field] for field in strategies if field in member.content}
        graph.changes.append({field: change for field, change in found.items() if change})
    first_listed = {node: place for place, node in enumerate(dict.fromkeys(chain.from_iterable(graph.previous)))}
    graph.searched.extend(sorted(previous, key=first_listed.__getitem__) for previous in graph.previous)
    return graph


def _judge(member: Member, previous: Sequence[int | LeftOut], strategies: Mapping[str, str]) -> LeftOut | None:
    """Say why a member does not count, if it does not."""
    fields = malformed_fields(member.content or {}, strategies)
    if member.content is None or fields:
        return LeftOut(member.message_id, RecordReason.MALFORMED_FIELD.value, fields, None)
    cause = next((other for other in previous if isinstance(other, LeftOut)), None)
    return cause.follower(member.message_id) if cause else None


def malformed_fields(content: Mapping[str, Any], strategies: Mapping[str, str]) -> list[str]:
    """List the fields of a content that are no transformation of their strategy, by name."""
    return sorted(f for f, strategy in strategies.items() if f in content and not is_valid(strategy, content[f]))
