"""Orders the nodes of a graph that may have circles, by the sorter of the standard library."""

from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter


def acyclic_order(previous: Mapping[str, Set[str]]) -> Iterator[str]:
    """List nodes, each after all its previous; leave out those on a circle or behind one.

    Args:
        previous: By node, the nodes before it, without itself; these need no entry of their own.
    """
    sorter = TopologicalSorter(previous)
    with suppress(CycleError):  # The sorter then gives the nodes that no circle blocks.
        sorter.prepare()
    while ready := sorter.get_ready():
        yield from ready
        sorter.done(*ready)
