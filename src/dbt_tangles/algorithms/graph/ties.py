"""Marks broken ties of a topological order: neighbours without a path between them, ordered by convention only."""

import numpy as np


def broken_ties(start: np.ndarray, previous: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Mark the nodes that do not follow the node directly before them in a topological order of their graph.

    The edges of the node suffice. Proof: let node y stand directly before node x. A path from x to y of two or more
    edges has an inner node z. A topological order places z behind y and before x, but these two are neighbours.
    Therefore x follows y if and only if x lists y.

    The proof needs a topological order of the given edges. The edges of a timeline are the links to known events,
    without the links that would close a cycle. The rank grows along each of them, and the order is by rank. A missing
    cause lacks a position, so paths cannot lead through it.

    Args:
        start: int64[nodes + 1].
        previous: int32[edges], each within a graph.
        position: int32[nodes], from 0 within each graph; -1 for nodes without a place.

    Returns:
        bool[nodes]; false for the first node of each graph and for nodes without a place.
    """
    is_broken = position > 0
    node = np.repeat(np.arange(len(position)), np.diff(start))
    is_broken[node[position[previous] == position[node] - 1]] = False
    return is_broken
