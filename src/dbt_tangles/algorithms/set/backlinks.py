"""The depths of lipmaa backlinks.

Besides the tips, a message lists the known messages at one lower depth, which keeps the paths to the root short. The
depth follows the lipmaa links of Bamboo, with depths from 0 where Bamboo counts from 1.

Source: protospec.md, "Feed tangle" (backlinks should exist); pzp-db 1.0.4 (their depths).
"""

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled

NO_BACKLINK = -1
# More than a message may declare; below it the powers of three fit into 64 bits.
TOO_DEEP = 2**60


@compiled
def backlink_depths(depth):
    """Find the backlink depth of messages of given depths.

    A number is a sum of complete ternary trees of 1, 4, 13, 40, … nodes, each as large as fits; its link skips the last
    tree of the sum. A number that is a single tree links to the end of the first of its three subtrees.

    Args:
        depth: int64[...].

    Returns:
        int64[...]: less than the depth, often by one; `NO_BACKLINK` for depths below 1, which only the root has, and
        for depths above the allowed ones.
    """
    found = np.empty(len(depth), np.int64)
    for k in range(len(depth)):
        if k > 0 and depth[k] == depth[k - 1]:
            found[k] = found[k - 1]
            continue
        number = depth[k] + 1
        if number < 2 or number > TOO_DEEP:
            found[k] = NO_BACKLINK
            continue
        tree = np.int64(1)
        while 3 * tree + 1 <= number:
            tree = 3 * tree + 1
        if tree == number:
            # Three smaller trees and the node itself.
            found[k] = (tree - 1) // 3 - 1
            continue
        rest = number
        while rest > 0:
            rest %= tree
            if rest > 0:
                tree = (tree - 1) // 3
        found[k] = number - tree - 1
    return found
