"""One order of ids for every host.

The peers compare ids by the collation of the host they run on, so that two of them may reduce one set differently.
Here it is pinned to ICU's root collation, as it applies to base58: letters without their case first, digits before
letters, the shorter of two before the longer; then, at the first difference of case, lower before upper.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def collation_keys(ids: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Make strings that sort, byte by byte, as ids do under the pinned collation.

    Args:
        ids: A column of ids. Only ASCII letters are folded; ids of other letters get some order, always the same.

    Returns:
        A column of large strings, different for different ids.
    """
    # Folded before they are widened: pyarrow 26 takes the wrong bytes of a slice that has been widened.
    folded = (fold(ids).cast(pa.large_string()) for fold in (pc.ascii_lower, pc.ascii_swapcase))
    return pc.binary_join_element_wise(*folded, pa.scalar("\0", pa.large_string()))
