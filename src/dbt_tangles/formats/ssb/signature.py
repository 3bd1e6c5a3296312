"""Verifies ed25519 signatures of classic messages with libsodium (SSB protocol guide, "signature").

Libraries disagree on malleable signatures, small-order keys and non-canonical keys. SSB's peers use libsodium, which
rejects all three; with a library that accepts them, strangers could write to some feeds.

Source: SSB protocol guide, "signature"; ssb-keys, ``verifyObj`` (hmac keys included).
"""

import hmac
import re
from binascii import a2b_base64
from functools import lru_cache

from nacl.bindings import crypto_sign_open
from nacl.exceptions import BadSignatureError

HMAC_KEY_BYTES = 32
SIGNATURE_BYTES = 64

_FEED_ID_LENGTH = 53
_FEED_ID = re.compile(r"@[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=\.ed25519")
_SIGNATURE_LENGTH = 100
_BASE64_LENGTH = 88
# The last of 86 base64 characters encodes two bits of the signature and four zeros.
_SIGNATURE_ENDS = frozenset(f"{last}==.sig.ed25519" for last in "AQgw")

# Length of the text that `sign` adds to a canonical text: the last member with its separator, and the closing brace.
_SIGNATURE_TAIL = len(',\n  "signature": "') + _SIGNATURE_LENGTH + len('"\n}')


def public_key(author: str) -> bytes | None:
    """Decode a classic feed id, ``@<canonical base64 of 32 bytes>.ed25519``; None for another string."""
    # Caching longer strings would waste memory: one may have a megabyte.
    return _decode_key(author) if len(author) == _FEED_ID_LENGTH else None


@lru_cache(maxsize=2**16)
def _decode_key(author: str) -> bytes | None:
    return a2b_base64(author[1:45]) if _FEED_ID.fullmatch(author) else None


def decode_signature(signature: object) -> bytes | None:
    """Decode a signature, exactly ``<canonical base64 of 64 bytes>.sig.ed25519``.

    Returns:
        The 64 bytes, if the value has that form.
    """
    if type(signature) is not str or len(signature) != _SIGNATURE_LENGTH or signature[85:] not in _SIGNATURE_ENDS:
        return None
    try:
        # The decoder skips characters outside base64, so only a string of base64 alone gives all 64 bytes.
        decoded = a2b_base64(signature[:_BASE64_LENGTH])
    except ValueError:
        return None
    return decoded if len(decoded) == SIGNATURE_BYTES else None


def is_valid(key: bytes, signature: bytes, text: bytes, hmac_key: bytes | None = None) -> bool:
    """Verify the signature of a message.

    Args:
        key: The author's public key, as `public_key` decodes it (32 bytes; libsodium ignores the length).
        signature: The signature, 64 bytes, as `decode_signature` decodes it.
        text: The canonical text in UTF-8, with the signature as the last member.
        hmac_key: The 32 bytes of a private network's key; null on the public network.

    Returns:
        Whether the key signed the text without its signature.
    """
    signed = text[:-_SIGNATURE_TAIL] + b"\n}"
    if hmac_key is not None:
        # libsodium's crypto_auth: HMAC-SHA-512, truncated to 32 bytes.
        signed = hmac.digest(hmac_key, signed, "sha512")[:32]
    try:
        crypto_sign_open(signature + signed, key)
    except BadSignatureError:
        return False
    return True
