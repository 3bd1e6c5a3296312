"""The messages of many pzp sets as arrays: their order, links, and the messages that they supersede.

The messages of a set are applied in the order of declared depth, then collated id (`columns.collation`).
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.orders import in_order
from dbt_tangles.columns.arrays import flags, keep_entries, runs
from dbt_tangles.columns.collation import collation_keys
from dbt_tangles.columns.dense_ids import Nodes, group_rows, number_nodes
from dbt_tangles.columns.links import link, look_up
from dbt_tangles.columns.strings import lists_of, strings_of


class SetMessages(NamedTuple):
    """The messages of many sets, numbered by set, then reduction order."""

    start: np.ndarray  # int64[sets + 1], into the messages
    row: np.ndarray  # int32[messages], the input row of each message
    set_of: np.ndarray  # int32[messages]
    root: np.ndarray  # int32[sets], the root of each set, or -1
    depth: np.ndarray  # int64[messages], as declared; 0 for roots

    @property
    def is_rooted(self) -> np.ndarray:
        """Whether the set of each message has its root: bool[messages]."""
        return self.root[self.set_of] >= 0

    def flags_at(self, messages: np.ndarray) -> np.ndarray:
        """Mark messages; negative numbers are ignored: bool[messages]."""
        is_marked = np.zeros(len(self.row), np.bool_)
        is_marked[messages[messages >= 0]] = True
        return is_marked


class SetTangles(NamedTuple):
    """The feed tangles of many sets."""

    set_start: np.ndarray  # int64[sets + 1], into the messages
    start: np.ndarray  # int64[messages + 1], into `previous`
    previous: np.ndarray  # int32[edges], the previous messages of each message; links to later messages are left out
    depth: np.ndarray  # int64[messages], as declared; ascending within a set


class Superseding(NamedTuple):
    """The distinct pairs of a message with data and another one with data that it supersedes, earlier or later."""

    message: np.ndarray  # int32[pairs], ascending
    other: np.ndarray  # int32[pairs], ascending for each message

    def where(self, is_kept: np.ndarray) -> "Superseding":
        """Return some of the pairs: bool[pairs]."""
        return Superseding(self.message[is_kept], self.other[is_kept])


def number_messages(table: pa.Table) -> SetMessages:
    """Number the messages by set and reduction order."""
    group, set_count = group_rows(strings_of(table["set_id"]))
    nodes = number_nodes(group, set_count, strings_of(collation_keys(table["message_id"])))
    is_moot = flags(table, "is_moot")
    depth = np.where(is_moot, 0, table["depth"].cast(pa.int64()).fill_null(0).to_numpy())
    _, node = in_order(nodes.graph_start, depth[nodes.row], np.ones(len(table), np.bool_))
    row = nodes.row[node]
    set_of = group[row]
    moots = np.flatnonzero(is_moot[row])
    root = np.full(set_count, np.int32(-1))
    root[set_of[moots]] = moots
    return SetMessages(nodes.graph_start, row, set_of, root, depth[row])


def link_messages(table: pa.Table, messages: SetMessages) -> tuple[SetTangles, np.ndarray]:
    """Link the messages of each set to their previous ones; also bool[messages], which messages are tips."""
    nodes, ids = Nodes(messages.start, messages.row), strings_of(table["message_id"])
    every = np.ones(len(messages.row), np.bool_)
    links = link(nodes, ids, lists_of(table["prev"]), every, messages.flags_at(messages.root))
    is_tip = messages.is_rooted
    is_tip[links.previous] = False
    # Valid messages have no links to later ones.
    is_earlier = links.previous < np.repeat(np.arange(len(messages.row)), np.diff(links.start))
    tangles = SetTangles(messages.start, *keep_entries(links.start, links.previous, is_earlier), messages.depth)
    return tangles, is_tip


def find_superseded(table: pa.Table, messages: SetMessages, has_data: np.ndarray) -> Superseding:
    """Find the messages that the messages with data supersede: bool[messages]."""
    nodes, ids = Nodes(messages.start, messages.row), strings_of(table["message_id"])
    supersedes = lists_of(table["supersedes"])
    found = look_up(nodes, ids, supersedes, has_data, np.zeros(len(has_data), np.bool_))
    start, entry = runs(supersedes.starts, messages.row)
    message, other = np.repeat(np.arange(len(has_data)), np.diff(start)), found[entry]
    is_pair = (other >= 0) & (other != message)
    pairs = np.sort(message[is_pair] * len(has_data) + other[is_pair])
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    return Superseding(*(part.astype(np.int32) for part in np.divmod(pairs, max(len(has_data), 1))))
