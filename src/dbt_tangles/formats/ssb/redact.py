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
from hashlib import sha256
from itertools import product
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
_RUN = re.compile(rf"[A-Za-z0-9+/_-]{{{_BASE64_LETTERS},}}")
_TO_PLAIN_ALPHABET = str.maketrans("-_", "+/")


def has_secrets(value: Any) -> bool:
    """Whether a value is of a kind that carries group secrets.

    Returns:
        True for an object whose type starts with ``group/``, and for an array that contains one at any depth.
    """
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
        self._digits: dict[str, str] = {}  # the fingerprint of each form
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
        if not self._hides_keys and not self._digits:
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
        parts: list[str] = []
        written = 0
        # Each window is looked up once, so the time is independent of the number of secrets and of overlaps.
        for run in _RUN.finditer(text) if self._digits else ():
            spellings = (_BASE64_LETTERS, run[0].translate(_TO_PLAIN_ALPHABET)), (_HEX_LETTERS, run[0].lower())
            for start, (letters, spelt) in product(range(len(run[0]) - _BASE64_LETTERS + 1), spellings):
                form = spelt[start : start + letters]
                if len(form) == letters and form in self._digits:
                    if run.start() + start >= written:
                        parts += text[written : run.start() + start], self._digits[form]
                    end = run.start() + start + letters
                    # A run excludes padding, which can only follow it.
                    is_padded = letters == _BASE64_LETTERS and end == run.end() and text.startswith("=", end)
                    written = max(written, end + is_padded)
        return "".join([*parts, text[written:]]) if parts else text

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
        self._digits[b2a_base64(secret, newline=False)[:_BASE64_LETTERS].decode()] = digits
        self._digits[secret.hex()] = digits


def _hidden(entry: Any) -> Any:
    if type(entry) is list:
        return [fingerprint(secret) if type(secret) is str else None for secret in entry]
    return fingerprint(entry) if type(entry) is str else None


def _digits(secret: bytes) -> str:
    return sha256(secret).hexdigest()[:FINGERPRINT_DIGITS]
