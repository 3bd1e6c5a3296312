"""A fixed collation of message ids: ICU's root collation, restricted to base58.

Peers compare ids by the collation of their host, so two peers may reduce one set differently. Here the collation is
fixed: letters by their lower case first, digits before letters, a prefix before the longer string; then, at the first
difference of case, lower before upper.
"""

import pyarrow as pa
import pyarrow.compute as pc


def collation_keys(ids: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Compute strings that sort bytewise as the ids do under the fixed collation.

    Args:
        ids: A column of ids. Only ASCII letters are folded; the order of other letters is arbitrary and stable.

    Returns:
        A column of large strings, distinct for distinct ids.
    """
    # Fold before widening: pyarrow 26 reads the wrong bytes of a slice that was widened first.
    folded = (fold(ids).cast(pa.large_string()) for fold in (pc.ascii_lower, pc.ascii_swapcase))
    return pc.binary_join_element_wise(*folded, pa.scalar("\0", pa.large_string()))


def collation_key(message_id: str) -> bytes:
    """Compute the key of one id, as `collation_keys` does."""
    text = message_id.encode()
    return text.lower() + b"\0" + text.swapcase()
