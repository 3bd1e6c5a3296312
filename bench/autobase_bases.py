"""Made-up Autobase bases of writers who hear of each other with a delay; the same seed gives the same bases.

Nodes are numbered in the order of writing, by writers who take turns at random. Each writer knows its own nodes and all
nodes written until some turns ago, and follows all heads among them.
"""

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase.base_graphs import Graphs
from dbt_tangles.algorithms.autobase.results import results_of_bases

LATE = 0.3  # of the nodes are written without knowing the last few turns, at most as many as there are writers
KEY_BYTES = 32


class Draft(NamedTuple):
    """A node.

    Attributes:
        writer: The number of its writer.
        length: Its place in the writer's log, from 1.
        previous: The numbers of the nodes that it follows directly: all heads its writer knows, and its own last node.
    """

    writer: int
    length: int
    previous: list[int]


def gossip(count: int, writers: int, rng: random.Random) -> Iterator[Draft]:
    """Write on all heads that are known with some delay, so that most forks are short and get merged."""
    heads: list[list[int]] = [[]]  # of each prefix of the nodes
    heard, last, length = [0] * writers, [-1] * writers, [0] * writers
    written_by: list[int] = []
    for number in range(count):
        writer = int(rng.random() * writers)
        delay = 1 + int(rng.random() * writers) if rng.random() < LATE else 0
        before, own = heard[writer], last[writer]
        until = heard[writer] = max(before, number - delay)
        previous = heads[until]
        if own >= until:
            # Its last node follows all nodes that the writer knew then, and its previous own node.
            previous = [*(head for head in previous if head >= before and written_by[head] != writer), own]
        merged = set(previous)
        heads.append([*(head for head in heads[number] if head not in merged), number])
        written_by.append(writer)
        last[writer] = number
        length[writer] += 1
        yield Draft(writer, length[writer], previous if own < 0 or own in merged else [*previous, own])


def rounds(count: int, writers: int) -> Iterator[Draft]:
    """Write all nodes of a round at once, each on top of the whole previous round: endless forks, never settled."""
    for number in range(count):
        begin = number - number % writers
        yield Draft(number % writers, number // writers + 1, [*range(max(begin - writers, 0), begin)])


def acked(count: int, writers: int) -> Iterator[Draft]:
    """Let a majority write on top of each other, and the others always beside them: acks without settled nodes."""
    majority = writers // 2 + 1
    for number in range(count):
        writer, own = number % writers, number - writers
        begin = number - writer
        if writer and writer < majority:
            previous = [number - 1]
        elif not begin:
            previous = []
        elif writer:
            previous = [begin - writers]
        else:
            previous = [*range(begin - writers + majority - 1, begin)]
        yield Draft(writer, number // writers + 1, [*previous, own] if begin and own not in previous else previous)


def arrays(drafts: Iterator[Draft], indexers: int) -> Graphs:
    """Number the nodes of a base by writer and length; the first `indexers` writers are indexers."""
    written = list(drafts)
    nodes = len(written)
    writer = np.fromiter((draft.writer for draft in written), np.int32, nodes)
    by_writer = np.argsort(writer, kind="stable")
    place = np.empty(nodes, np.int32)
    place[by_writer] = np.arange(nodes)
    ordered = [written[at] for at in by_writer]
    start = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.fromiter((len(draft.previous) for draft in ordered), np.int64, nodes), out=start[1:])
    previous = np.fromiter((each for draft in ordered for each in draft.previous), np.int64, start[-1])
    writer = writer[by_writer]
    return Graphs(
        np.array([0, nodes], np.int64),
        start,
        place[previous],
        writer,
        np.ones(nodes, np.int32),
        np.where(writer < indexers, writer, -1).astype(np.int32),
        np.zeros(nodes, np.bool_),
        np.array([0, indexers], np.int64),
    )


def table(bases: int, nodes: int, writers: int, indexers: int) -> pa.Table:
    """Make rows of `int_autobase_members`, with the columns that the order needs.

    Args:
        bases: The number of bases.
        nodes: The number of nodes in each.
        writers: The number of writers in each; writers belong to one base only.
        indexers: How many of them are indexers.

    Returns:
        The rows, by base, each node after all that it follows.
    """
    rng = random.Random(1)
    columns: dict[str, list[Any]] = {name: [] for name in results_of_bases.reads.names}
    put = [columns[name].append for name in results_of_bases.reads.names]
    for _ in range(bases):
        base = rng.randbytes(KEY_BYTES).hex()
        keys = [rng.randbytes(KEY_BYTES).hex() for _ in range(writers)]
        voting = sorted(keys[:indexers])
        start = [{"writer": key, "length": 0} for key in sorted(keys)]
        ids: list[str] = []
        for draft in gossip(nodes, writers, rng):
            key = keys[draft.writer]
            previous = [ids[each] for each in draft.previous]
            ids.append(f"{key}:{draft.length}")
            row = (base, ids[-1], key, draft.length, previous, 1, False, voting, start)
            for each, value in zip(put, row, strict=True):
                each(value)
    return pa.table(columns, schema=results_of_bases.reads)
