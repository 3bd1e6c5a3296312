"""Replaces group secrets by fingerprints (private group specification, ``group/init``, ``group/add-member``).

A decrypted log holds the keys of its private groups. Tables show fingerprints instead, which are enough to tell epochs
apart.

Secrets are recognised by key and by form, because old and new versions of the messages have them in different places,
and a client may copy one elsewhere. The search covers the forms that clients write; a deliberately disguised secret
stays undetected.

Source: private group specification, ``group/init``, ``group/add-member`` and ``group/po-box``; RFC 4648, sections 4, 5
and 8, for the forms.
"""

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator
from hashlib import sha256
from itertools import chain
from typing import Any

FINGERPRINT_DIGITS = 16

#: Contents with this prefix of the type carry secrets.
SECRETS_PREFIX = "group/"
#: Values under these keys are secrets in any form.
SECRET_KEYS = frozenset({"secret", "oldSecrets", "groupKey"})

_BASE64_KEY = re.compile(r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=")
_LOOSE_BASE64_KEY = re.compile(r"[A-Za-z0-9+/_-]{42}[AEIMQUYcgkosw048]=?")
_HEX_KEY = re.compile(r"[0-9A-Fa-f]{64}")

# Forms are looked up in one spelling: plain base64 without padding, lower-case hexadecimal.
_BASE64_LETTERS, _HEX_LETTERS = 43, 64
_BASE64_RUN = re.compile(rf"[A-Za-z0-9+/_-]{{{_BASE64_LETTERS},}}")
_HEX_RUN = re.compile(rf"[0-9A-Fa-f]{{{_HEX_LETTERS},}}")
_TO_PLAIN_ALPHABET = str.maketrans("-_", "+/")

#: Start and end of a part of a string, and the fingerprint that replaces it.
_Region = tuple[int, int, str]


def has_secrets(value: Any) -> bool:
    """Whether a value is of a kind that carries group secrets.

    Returns:
        True for an object whose type starts with ``group/``, and for an array that contains one at any depth.
    """
    if type(value) is dict:
        kind = value.get("type")
        return type(kind) is str and kind.startswith(SECRETS_PREFIX)
    if type(value) is not list:
        return False
    pending = [value]
    while pending:
        entry = pending.pop()
        if type(entry) is list:
            pending += entry
        elif type(entry) is dict:
            kind = entry.get("type")
            if type(kind) is str and kind.startswith(SECRETS_PREFIX):
                return True
    return False


def fingerprint(secret: str) -> str:
    """Compute the fingerprint of a group secret.

    Args:
        secret: The canonical base64 of 32 bytes; any other string stands for its own UTF-8 bytes.

    Returns:
        The first 16 hexadecimal digits of the sha256 of the secret's bytes.
    """
    return _digits(a2b_base64(secret) if _BASE64_KEY.fullmatch(secret) else secret.encode("utf-8", "surrogatepass"))


class Redaction:
    """The secrets of some contents, and their replacement in all other values of a line.

    Secrets are: the values under `SECRET_KEYS`, at any depth; and every string, keys of objects included, that is as a
    whole the canonical base64 of 32 bytes. Secrets of 32 bytes are replaced in all strings.

    Time and memory are linear in the size of the values, and any depth is allowed.
    """

    def __init__(self, *contents: Any) -> None:
        """Find the secrets of contents, usually of one; the contents stay unchanged."""
        # Form to fingerprint.
        self._base64: dict[str, str] = {}
        self._hex: dict[str, str] = {}
        self._hides_keys = False
        for content in contents:
            self._find(content)

    def value(self, value: Any) -> Any:
        """Replace the secrets in a value.

        Args:
            value: Any JSON value of any depth; it stays unchanged.

        Returns:
            The value itself if there are no secrets; else a copy, keys in the same order. Under `SECRET_KEYS`, a string
            and the strings of an array become fingerprints, any other value becomes null. Elsewhere, strings and keys
            are converted by `text`. Keys that become equal are merged, as for a duplicate key in a JSON text: position
            of the first, value of the last.
        """
        if not self._hides_keys and not self._base64:
            return value
        copied: list[Any] = []
        pending: list[tuple[Any, Any]] = [([value], copied)]
        while pending:
            source, target = pending.pop()
            if type(source) is dict:
                for key, entry in source.items():
                    target[self.text(key)] = _hidden(entry) if key in SECRET_KEYS else self._copy(entry, pending)
            else:
                for entry in source:
                    target.append(self._copy(entry, pending))
        return copied[0]

    def text(self, text: str) -> str:
        """Replace the secrets in a string.

        Returns:
            The string with the fingerprint in place of each secret, in base64 (of either alphabet, with or without
            padding) or hexadecimal, also within longer text. Overlapping secrets are replaced by the fingerprint of the
            first.
        """
        if not self._base64 or len(text) < _BASE64_LETTERS:
            return text
        regions = list(_regions(_BASE64_RUN, _BASE64_LETTERS, self._base64, text))
        if len(text) >= _HEX_LETTERS:
            regions = sorted(chain(regions, _regions(_HEX_RUN, _HEX_LETTERS, self._hex, text)))
        if not regions:
            return text
        parts: list[str] = []
        written = 0
        for start, end, digits in regions:
            if start >= written:
                parts += text[written:start], digits
            written = max(written, end)
        parts.append(text[written:])
        return "".join(parts)

    def _copy(self, entry: Any, pending: list[tuple[Any, Any]]) -> Any:
        """Copy an entry; a container starts empty and is pending to be filled."""
        kind = type(entry)
        if kind is str:
            return self.text(entry)
        if kind is dict or kind is list:
            copied = kind()
            pending.append((entry, copied))
            return copied
        return entry

    def _find(self, content: Any) -> None:
        pending = [content]
        while pending:
            value = pending.pop()
            if type(value) is str:
                if len(value) == _BASE64_LETTERS + 1 and _BASE64_KEY.fullmatch(value):
                    self._add(a2b_base64(value))
            elif type(value) is list:
                pending += value
            elif type(value) is dict:
                pending += value
                pending += value.values()
                for key in SECRET_KEYS & value.keys():
                    self._hides_keys = True
                    self._find_named(value[key])

    def _find_named(self, entry: Any) -> None:
        """Find secrets under one of `SECRET_KEYS`: 32 bytes in any form count."""
        for secret in entry if type(entry) is list else [entry]:
            if type(secret) is not str:
                continue
            if _LOOSE_BASE64_KEY.fullmatch(secret):
                self._add(a2b_base64(secret.translate(_TO_PLAIN_ALPHABET)[:_BASE64_LETTERS] + "="))
            elif _HEX_KEY.fullmatch(secret):
                self._add(bytes.fromhex(secret))

    def _add(self, secret: bytes) -> None:
        digits = _digits(secret)
        self._base64[b2a_base64(secret, newline=False)[:_BASE64_LETTERS].decode()] = digits
        self._hex[secret.hex()] = digits


def _regions(run: re.Pattern[str], letters: int, forms: dict[str, str], text: str) -> Iterator[_Region]:
    """Find the forms of one length in a text and yield the disjoint regions that they cover, in order.

    Each window of that length is looked up once, so the time is independent of the number of forms and of overlaps.
    """
    is_hex = run is _HEX_RUN
    for found in run.finditer(text):
        spelt = found[0].lower() if is_hex else found[0].translate(_TO_PLAIN_ALPHABET)
        start = end = -1
        digits = ""
        for place in range(len(spelt) - letters + 1):
            window = spelt[place : place + letters]
            if window in forms:
                if place >= end:
                    if end >= 0:
                        yield found.start() + start, found.start() + end, digits
                    start, digits = place, forms[window]
                end = place + letters
        if end >= 0:
            end += found.start()
            # A run excludes padding, which can only follow it.
            is_padded = not is_hex and end == found.end() and text.startswith("=", end)
            yield found.start() + start, end + is_padded, digits


def _hidden(entry: Any) -> Any:
    if type(entry) is list:
        return [fingerprint(secret) if type(secret) is str else None for secret in entry]
    return fingerprint(entry) if type(entry) is str else None


def _digits(secret: bytes) -> str:
    return sha256(secret).hexdigest()[:FINGERPRINT_DIGITS]
