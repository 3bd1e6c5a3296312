"""Reads the check's options from the text that dbt's configuration holds."""

import base64


def decode_hmac_key(text: str | None) -> bytes | None:
    """Decode the var `ssb_hmac_key`: 32 bytes as canonical base64, or nothing.

    Raises:
        ValueError: anything else; the key itself is not in the message.
    """
    if not text:
        return None
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        key = b""
    if len(key) != 32 or base64.b64encode(key).decode() != text:
        raise ValueError("ssb_hmac_key must be 32 bytes as canonical base64")
    return key
