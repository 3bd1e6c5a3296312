"""Reads the network key, the one secret option of the verification, from the environment."""

import base64
import os
from collections.abc import Mapping

from dbt_tangles.formats.ssb.signature import HMAC_KEY_BYTES

HMAC_KEY_NAME = "TANGLES_SSB_HMAC_KEY"


def hmac_key(environ: Mapping[str, str] = os.environ) -> bytes | None:
    """Read the network's key from the environment, because dbt writes vars and configs into files.

    Returns:
        32 bytes, if the variable is set and not empty.

    Raises:
        ValueError: It is not the canonical base64 of 32 bytes; the error text omits the value.
    """
    text = environ.get(HMAC_KEY_NAME)
    if not text:
        return None
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        key = b""
    if len(key) != HMAC_KEY_BYTES or base64.b64encode(key).decode() != text:
        raise ValueError(
            f"{HMAC_KEY_NAME} is not {HMAC_KEY_BYTES} bytes as canonical base64 (not shown here); correct or unset it"
        )
    return key
