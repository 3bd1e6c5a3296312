"""The depths of lipmaa backlinks.

Besides the tips, a message lists the known messages at one lower depth, which keeps the paths to the root short. The
depth follows the lipmaa links of Bamboo, with depths from 0 where Bamboo counts from 1.

Source: protospec.md, "Feed tangle" (backlinks should exist); pzp-db 1.0.4 (their depths).
"""

import numpy as np

NO_BACKLINK = -1
# More than a message may declare.
_TOO_DEEP = 2**60


def backlink_depths(depth: np.ndarray) -> np.ndarray:
    """Find the backlink depth of messages of given depths.

    A number is a sum of complete ternary trees of 1, 4, 13, 40, … nodes, each as large as fits; its link skips the last
    tree of the sum. A number that is a single tree links to the end of the first of its three subtrees.

    Args:
        depth: int64[...].

    Returns:
        int64[...]: less than the depth, often by one; `NO_BACKLINK` for depths below 1, which only the root has, and
        for depths above the allowed ones.
    """
    has_link = (depth >= 1) & (depth < _TOO_DEEP)
    number = np.where(has_link, depth + 1, 1)
    trees = [1]
    while trees[-1] <= number.max(initial=0):
        trees.append(3 * trees[-1] + 1)
    skipped, rest = np.ones_like(number), number
    for tree in reversed(trees):
        left = rest % tree
        skipped[(left == 0) & (rest > 0)] = tree
        rest = left
    link = np.where(skipped == number, (number - 1) // 3, number - skipped)
    return np.where(has_link, link - 1, NO_BACKLINK)
