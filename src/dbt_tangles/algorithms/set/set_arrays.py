"""The arrays that the set kernels share, over many sets at once.

A message is its place: the messages of a set are neighbours, and within a set they stand in reduction order (declared
depth, then collated id), so every link leads to a lower number.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.set.item_touches import Touches


class SetTangles(NamedTuple):
    """The feed tangles of many sets."""

    set_start: np.ndarray  # int64[sets + 1], into the messages
    start: np.ndarray  # int64[messages + 1], into `previous`
    previous: np.ndarray  # int32[edges], the previous messages of each message; links to later messages are left out
    depth: np.ndarray  # int64[messages], as declared; ascending within a set


class SetEntries(NamedTuple):
    """The data of the messages: additions, deletions and `supersedes`."""

    is_entry: np.ndarray  # bool[messages], whether the data of a message counts
    touches: Touches  # The items that each message adds and deletes
    list_start: np.ndarray  # int64[messages + 1], into `superseded`
    superseded: np.ndarray  # int32[...], the message that each entry of `supersedes` names, or -1
