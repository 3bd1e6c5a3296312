"""Group secrets replaced by fingerprints.

A decrypted log holds the keys of its private groups. No table shows them: a fingerprint is enough to tell epochs apart.

Source: private group specification, ``group/init`` and ``group/add-member``.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from hashlib import sha256
from typing import Any

FINGERPRINT_DIGITS = 16

#: Contents whose type starts so carry secrets.
SECRETS_PREFIX = "group/"
_BASE64_KEY = re.compile(r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=")


def has_secrets(content: Any) -> bool:
    """Whether a content is of a kind that carries group secrets: an object whose type starts with ``group/``."""
    if type(content) is not dict:
        return False
    kind = content.get("type")
    return type(kind) is str and kind.startswith(SECRETS_PREFIX)


def redact(content: dict[str, Any]) -> dict[str, Any]:
    """Replace group secrets by their fingerprints.

    Args:
        content: a content for which `has_secrets` holds; it is left as it is.

    Returns:
        A copy, keys in the same order, in which ``secret`` and the entries of ``oldSecrets`` are fingerprints where
        they were strings, and null where they were anything else.
    """
    redacted = dict(content)
    if "secret" in redacted:
        redacted["secret"] = _fingerprint_of(redacted["secret"])
    if "oldSecrets" in redacted:
        old = redacted["oldSecrets"]
        redacted["oldSecrets"] = (
            [_fingerprint_of(secret) for secret in old] if type(old) is list else (_fingerprint_of(old))
        )
    return redacted


def fingerprint(secret: str) -> str:
    """Fingerprint a group secret.

    Args:
        secret: the canonical base64 of 32 bytes; any other string stands for its own UTF-8 bytes.

    Returns:
        The first 16 hexadecimal digits of the sha256 of the secret's bytes.
    """
    raw = a2b_base64(secret) if _BASE64_KEY.fullmatch(secret) else secret.encode("utf-8", "surrogatepass")
    return sha256(raw).hexdigest()[:FINGERPRINT_DIGITS]


def _fingerprint_of(secret: Any) -> str | None:
    return fingerprint(secret) if type(secret) is str else None
