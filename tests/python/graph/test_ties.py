"""Broken ties of topological orders: any order of any graph against a search for paths."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.graph.ties import broken_ties
from graph_oracle import reachable


def ties_of(links: dict[str, list[str]], order: list[str]) -> list[str]:
    """List the nodes that the kernel marks; nodes outside the order have no place."""
    number = {name: at for at, name in enumerate(links)}
    start = np.cumsum([0, *map(len, links.values())])
    previous = np.array([number[p] for listed in links.values() for p in listed], np.int32)
    position = np.array([order.index(name) if name in order else -1 for name in links], np.int32)
    return sorted(np.array(list(links))[broken_ties(start, previous, position)].tolist())


def test_nodes_without_a_place():
    """A node set aside is no tie, and neither is a first node that lists one."""
    assert ties_of({"x": ["y"], "A": ["x"], "y": ["x"], "B": []}, ["A", "B"]) == ["B"]


@given(st.lists(st.lists(st.integers(0, 20), max_size=4), max_size=9), st.data())
def test_a_tie_is_a_neighbour_without_a_path(lists, data):
    """For any graph and any of its topological orders: a link decides as a search over all paths does."""
    links = {f"n{m}": [f"n{p}" for p in {p % m for p in listed if m}] for m, listed in enumerate(lists)}
    order: list[str] = []
    while len(order) < len(links):
        ready = [name for name in links if name not in order and all(p in order for p in links[name])]
        order.append(data.draw(st.sampled_from(ready)))
    neighbours = itertools.pairwise(order)
    assert ties_of(links, order) == sorted(x for y, x in neighbours if y not in reachable(x, links))
