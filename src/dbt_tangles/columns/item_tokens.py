"""Tokens: items of pzp sets, entries of ``add`` and ``del``, as strings (pzp-set specification, data of a message).

The peer keeps entries of any type in a JavaScript Set: strings, numbers, booleans and null are equal by value, while
each object or array equals only itself. A string is its own *token*; the token of any other entry is NUL and its JSON
text (also for a string that begins with NUL or has no UTF-8 form). So tokens are equal exactly where entries are,
except tokens that `are_unique`: two of these are never equal.
"""

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

MARK = "\0"


def are_unique(tokens: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Mark the tokens of objects and arrays, which equal only themselves."""
    return _begin_with(tokens, MARK + "{") | _begin_with(tokens, MARK + "[")


def item_texts(tokens: pa.Array) -> pa.Array:
    """Format tokens as the tables show them (see `item_of`)."""
    is_marked = _begin_with(tokens, MARK)
    if not is_marked.any():
        return tokens
    texts = pa.array([item_of(token) for token in tokens.filter(pa.array(is_marked)).to_pylist()], tokens.type)
    return pc.replace_with_mask(tokens, pa.array(is_marked), texts)


def are_strings(tokens: pa.Array) -> np.ndarray:
    """Mark the tokens of strings that the tables show unchanged."""
    is_string = ~_begin_with(tokens, MARK)
    for place in np.flatnonzero(~is_string):
        token = tokens[place].as_py()
        is_string[place] = item_of(token) != token[1:]
    return is_string


def _begin_with(tokens: pa.Array | pa.ChunkedArray, mark: str) -> np.ndarray:
    return pc.starts_with(tokens, mark).fill_null(False).to_numpy(zero_copy_only=False)


def item_of(token: str) -> str:
    """Format a token: a string unchanged, any other entry as JSON text."""
    if not token.startswith(MARK):
        return token
    text = token[1:]
    if text.startswith('"'):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:  # a lone surrogate
            return text
    return text
