"""Searches many windows for the fewest next nodes that settle each unsettled node: chains first, then by breadth."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from dbt_tangles.algorithms.autobase.bases import DESIGN
from dbt_tangles.algorithms.autobase.next_nodes import Sequence, Window
from dbt_tangles.algorithms.autobase.settling_drafts import settled_by
from dbt_tangles.algorithms.autobase.views import ViewArrays

#: The most sequences of a window that are tried to rule out shorter ones; fewer for windows of many nodes.
SEQUENCES, SEQUENCE_NODES = 400, 20_000

#: The most nodes that are ordered together.
_TOGETHER = 200_000

#: How far a window is searched for nodes that no chain settles, where some writers cannot write or are within a batch.
_SEARCHED_LENGTH = 3


class Searched(NamedTuple):
    """A window to search."""

    number: int  # Its number among the windows
    window: Window  # The window
    drafts: dict[int, Sequence]  # The shortest sequence found for each unsettled node, by local number

    def length_to_beat(self) -> int:
        """Return the greatest number of drafts that a node needs so far."""
        found = max(map(len, self.drafts.values()), default=0)
        able = [who for who in self.window.writers if who.indexer >= 0 and not who.left]
        if len(self.drafts) < len(self.window.unsettled) and len(able) < len(self.window.writers):
            return max(found, _SEARCHED_LENGTH)
        return max(found, _SEARCHED_LENGTH) if 0 < len(able) < self.window.majority else found


def search(windows: ViewArrays, searched: list[Searched], rule: str) -> list[int]:
    """Find the fewest drafts that settle each unsettled node of some windows.

    A result depends on its window alone.

    Args:
        windows: All windows, as views.
        searched: The windows to search; `drafts` is filled.
        rule: A rule of `bases.RULES`.

    Returns:
        For each searched window the greatest length such that all shorter sequences of interest were tried.
    """
    _try(windows, ((each, drafts) for each in searched for drafts in each.window.draft_chains()), rule)
    proven = [1] * len(searched)
    last: list[list[Sequence]] = [[()] for _ in searched]
    spent = [0] * len(searched)
    active = list(range(len(searched)))
    while active:
        going = []
        for at in active:
            each = searched[at]
            if each.length_to_beat() <= proven[at]:
                continue
            room = min(SEQUENCES, SEQUENCE_NODES // max(each.window.size, 1)) - spent[at]
            extend = each.window.extend_freely if rule == DESIGN else each.window.extend
            longer = list(islice(chain.from_iterable(map(extend, last[at])), max(room, 0) + 1))
            if longer and len(longer) <= room:
                last[at] = longer
                spent[at] += len(longer)
                going.append(at)
        _try(windows, ((searched[at], drafts) for at in going for drafts in last[at]), rule)
        for at in going:
            proven[at] += 1
        active = going
    return [
        length if rule == DESIGN or each.window.has_all_sides else 1
        for each, length in zip(searched, proven, strict=True)
    ]


def _try(windows: ViewArrays, sequences: Iterable[tuple[Searched, Sequence]], rule: str) -> None:
    """Publish sequences, and note those that are shorter than the ones before."""
    for part in _parts(sequences):
        settled = settled_by(windows, [(each.number, each.window, drafts) for each, drafts in part], rule)
        for (each, drafts), is_settled in zip(part, settled, strict=True):
            for x in each.window.unsettled:
                if is_settled[x] and (x not in each.drafts or len(drafts) < len(each.drafts[x])):
                    each.drafts[x] = drafts


def _parts(sequences: Iterable[tuple[Searched, Sequence]]) -> Iterator[list[tuple[Searched, Sequence]]]:
    part: list[tuple[Searched, Sequence]] = []
    nodes = 0
    for each, drafts in sequences:
        part.append((each, drafts))
        nodes += each.window.size + len(drafts)
        if nodes >= _TOGETHER:
            yield part
            part, nodes = [], 0
    if part:
        yield part
