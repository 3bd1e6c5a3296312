"""Searches many windows for the fewest next nodes that settle each unsettled node: chains first, then by breadth."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from dbt_tangles.algorithms.autobase.next_nodes import SIDES, Drafting, Sequence, Window
from dbt_tangles.algorithms.autobase.rules import DESIGN
from dbt_tangles.algorithms.autobase.windows import Windows, settled_by

#: The most sequences of a window that are tried to rule out shorter ones; fewer for windows of many nodes.
SEQUENCES, SEQUENCE_NODES = 400, 20_000

#: The most nodes that are ordered together.
_TOGETHER = 200_000

#: How far a window is searched for nodes that no chain settles, where some writers cannot write or are within a batch.
_SEARCHED_LENGTH = 3


class _Search:
    """The search of one window."""

    def __init__(self, window: Window) -> None:
        self.window, self.drafting = window, Drafting(window)
        self.found: dict[int, Sequence] = {}  # the shortest sequence of each unsettled node
        self.last: list[Sequence] = [()]  # all sequences of the greatest length that was tried
        self.proven = 1  # all shorter sequences were tried
        self.spent = 0

    def length_to_beat(self) -> int:
        """Return the greatest number of drafts that a node needs so far."""
        most, writers = max(map(len, self.found.values()), default=0), self.window.writers
        able = sum(who.indexer >= 0 and not who.left for who in writers)
        is_hard = (len(self.found) < len(self.window.unsettled) and able < len(writers)) or (
            0 < able < self.window.majority
        )
        return max(most, _SEARCHED_LENGTH) if is_hard else most

    def extend(self, rule: str) -> bool:
        """List all sequences with one more draft; False if they are none or too many."""
        room = min(SEQUENCES, SEQUENCE_NODES // max(self.window.size, 1)) - self.spent
        extend = self.drafting.extend_freely if rule == DESIGN else self.drafting.extend
        longer = list(islice(chain.from_iterable(map(extend, self.last)), max(room, 0) + 1))
        if not longer or len(longer) > room:
            return False
        self.last = longer
        self.spent += len(longer)
        return True


def search(windows: Windows, searched: list[Window], rule: str) -> dict[int, tuple[dict[int, Sequence], int]]:
    """Find the fewest drafts that settle each unsettled node of some windows; a result depends on its window alone.

    Args:
        windows: All windows.
        searched: The windows to search.
        rule: A rule of `rules.RULES`.

    Returns:
        By the number of the window: the shortest sequence found for each unsettled node; and the greatest length such
        that all shorter sequences of interest were tried.
    """
    active = every = [_Search(window) for window in searched]
    _try(windows, ((each, drafts) for each in every for drafts in each.drafting.chains()), rule)
    while active:
        active = [each for each in active if each.length_to_beat() > each.proven and each.extend(rule)]
        _try(windows, ((each, drafts) for each in active for drafts in each.last), rule)
        for each in active:
            each.proven += 1
    return {
        each.window.number: (
            each.found,
            each.proven if rule == DESIGN or len(each.drafting.contenders) <= SIDES + 1 else 1,
        )
        for each in every
    }


def _try(windows: Windows, sequences: Iterable[tuple[_Search, Sequence]], rule: str) -> None:
    """Publish sequences, and note those that are shorter than the ones before."""
    for part in _parts(sequences):
        settled = settled_by(windows, [(each.window, drafts) for each, drafts in part], rule)
        for (each, drafts), is_settled in zip(part, settled, strict=True):
            for x in each.window.unsettled:
                if is_settled[x] and (x not in each.found or len(drafts) < len(each.found[x])):
                    each.found[x] = drafts


def _parts(sequences: Iterable[tuple[_Search, Sequence]]) -> Iterator[list[tuple[_Search, Sequence]]]:
    part: list[tuple[_Search, Sequence]] = []
    nodes = 0
    for each, drafts in sequences:
        part.append((each, drafts))
        nodes += each.window.size + len(drafts)
        if nodes >= _TOGETHER:
            yield part
            part, nodes = [], 0
    if part:
        yield part
