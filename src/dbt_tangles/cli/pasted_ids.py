"""Lists the ids that a pasted text may stand for: in quotes, percent-encoded, as a URI, or whole in a longer text."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

#: A longer text has one form, the text itself.
_LONGEST = 4096
_MOST_PIECES = 8
#: An encoded id may be encoded again together with the link that contains it.
_MOST_DECODED = 3

_URI = re.compile(
    r"ssb:(?://)?(message|feed)([/:])(classic|sha256|ed25519)\2([A-Za-z0-9_+/-]{0,43})=*(?:[?#].*)?", re.I | re.S
)
#: Kind and format of a URI: the template of the sigil.
_SIGILS = {("message", "classic"): "%{}.sha256", ("message", "sha256"): "%{}.sha256"}
_SIGILS |= {("feed", "classic"): "@{}.ed25519", ("feed", "ed25519"): "@{}.ed25519"}
_DIGEST = re.compile(r"([%@])([A-Za-z0-9_+/-]{43}=)\.(sha256|ed25519)")
#: The beginning of a message's id without its sigil.
_BARE = re.compile(r"[A-Za-z0-9+/]{1,43}|[A-Za-z0-9+/]{43}=(?:\.[a-z0-9]{0,6})?")
#: The digest of a message as URIs write it.
_OF_URI = re.compile(r"([A-Za-z0-9_-]{43})=?")

#: White space, quotes, brackets, commas and zero-width characters; ids of peers neither begin nor end with them.
_AROUND = r"""[\s"'`<>()\[\]{}|,;“”„‘’‚«»‹›\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+"""
_ENDS = re.compile(rf"^{_AROUND}|(?:{_AROUND}|[.?!])+$")
_MARKDOWN = re.compile(r"!?\[[^\]]*\]\((.*)\)", re.S)
_LINK = re.compile(r"[a-z][a-z0-9+.-]*://[^/]*", re.I)
#: Whole ids within a longer text, except after a colon, where `NAME:ROOT` has its root.
_WITHIN = re.compile(
    r"(?<!:)[%@][A-Za-z0-9_+/-]{43}=\.(?:sha256|ed25519)"
    r"|(?<![\w:])ssb:(?://)?(?:message|feed)[/:][a-z0-9]+[/:][A-Za-z0-9_+/-]{43}=*"
    r"|(?<![0-9A-Za-z:])[0-9a-fA-F]{64}:[0-9]{1,10}(?![0-9])"
    r"|(?<![0-9A-Za-z:])[1-9A-HJ-NP-Za-km-z]{43,44}(?![0-9A-Za-z])"
)

_MESSAGE = r"%|%?[A-Za-z0-9+/]{1,43}(?:=(?:\.[a-z0-9-]{0,16})?)?"
_URIS = r"ssb:(?://)?[a-z-]{0,20}(?:[/:][A-Za-z0-9_+/:=-]{0,200})?"
#: Patterns of ids and of their beginnings: messages and `NAME:ROOT`, feeds, pzp messages, nodes.
_LOOKS = [
    re.compile(rf"(?:(?s:.+):(?=%|ssb:))?(?:{_MESSAGE}|{_URIS})"),
    re.compile(r"@[A-Za-z0-9+/]{0,43}=?(?:\.[a-z0-9-]{0,16})?"),
    re.compile(r"[1-9A-HJ-NP-Za-km-z]{1,44}"),
    re.compile(r"[0-9a-fA-F]{1,64}(?::[0-9]{0,10})?"),
]


class Candidate(NamedTuple):
    """An id that a pasted text may stand for."""

    text: str  # An id or the beginning of one
    may_be_prefix: bool  # Whether the text may be only the beginning of an id


def as_sigil(text: str) -> str:
    """Convert the URI of a classic message or feed, or its beginning, to a sigil; return other texts unchanged."""
    uri = _URI.fullmatch(text)
    sigil = _SIGILS.get((uri[1].lower(), uri[3].lower())) if uri else None
    if not sigil:
        return text
    digest = _standard(uri[4])
    return sigil.format(f"{digest}=") if len(digest) == 43 else f"{sigil[0]}{digest}"


def _standard(digest: str) -> str:
    return digest.replace("-", "+").replace("_", "/")


def candidates(text: str) -> list[Candidate]:
    """List the ids that a pasted text may stand for, the likeliest first.

    These are the text itself; the text without quotes and brackets around it; decoded texts; then whole ids within it,
    as in a link. SSB URIs become sigils. The id with its sigil follows a text that may lack it.
    """
    wholes = [text, *(_decoded(text) if len(text) <= _LONGEST else ())] if text else []
    found = {form: Candidate(form, True) for whole in wholes for form in _with_sigil(whole)}
    for part in (part for whole in wholes[1:] for part in _ids_within(whole)):
        found.setdefault(part, Candidate(part, False))
    return list(found.values())


def _with_sigil(text: str) -> list[str]:
    return [text, f"%{text}"] if _BARE.fullmatch(text) else [as_sigil(text)]


def candidate_texts(text: str | None) -> tuple[str, ...]:
    """List the texts of `forms`, if a text is given."""
    return () if text is None else tuple(candidate.text for candidate in candidates(text))


def _decoded(text: str) -> Iterator[str]:
    """Yield a text without quotes and brackets around it, then after each round of percent-decoding."""
    texts = [_MARKDOWN.sub(r"\1", text.strip())]
    for _ in range(_MOST_DECODED + 1):
        bare = [_without_ends(each) for each in texts]
        yield from filter(None, bare)
        texts = [each for text in bare for each in _decode(text)]


def _without_ends(text: str) -> str:
    while (stripped := _ENDS.sub("", text)) != text:
        text = stripped
    return text


def _decode(text: str) -> list[str]:
    """Percent-decode a text; a leading `%` may be an escape or a message's sigil, so there may be two results."""
    decoded = unquote(text)
    behind_sigil = f"%{unquote(text[1:])}"
    if not text.startswith("%") or decoded == text or decoded.startswith("%"):
        return [decoded]
    if "\ufffd" in decoded:  # The decoded bytes are not UTF-8.
        return [behind_sigil]
    is_letter = decoded[0].isalnum() or not decoded[0].isascii()
    return [behind_sigil, decoded] if is_letter else [decoded, behind_sigil]


def _ids_within(text: str) -> Iterator[str]:
    if digest := _OF_URI.fullmatch(text):
        yield f"%{_standard(digest[1])}=.sha256"
    for match in _WITHIN.findall(text)[:_MOST_PIECES]:
        digest = _DIGEST.fullmatch(match)
        yield f"{digest[1]}{_standard(digest[2])}.{digest[3]}" if digest else as_sigil(match)


def first_likely_id(text: str) -> str | None:
    """Return the first form of a text that matches the pattern of an id or of its beginning, if any."""
    return next((form for form in candidate_texts(text) if any(look.fullmatch(form) for look in _LOOKS)), None)


def is_name(text: str) -> bool:
    """Whether a text may be an id of a log's free choice: one printable word that is not a link."""
    return text.isprintable() and not re.search(r"\s", text) and not _LINK.match(text)
