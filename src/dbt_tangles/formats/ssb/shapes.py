"""Extracts the signed message from the export shapes of SSB databases.

A line may be an envelope ``{key, value, timestamp}``, a bare value, an entry of the raw log ``{seq, value: envelope}``,
or one of two forms in which a database shows a private message that it could decrypt. The module reduces each to the
value as it was signed.

Source: ssb-db, ``createLogStream``, ``createRawLogStream`` and private messages; ssb-db2, private messages and live
results; muxrpcli, output of ``ssb-server log``.
"""

from typing import Any

# Fields that older databases add to a message that they decrypted.
_UNBOX_FIELDS = frozenset(("meta", "cyphertext", "private", "unbox"))
_MESSAGE_HINTS = ("content", "signature")

#: Claimed key, signed value, receive timestamp and decrypted content; all except the value may be null. Key and
#: timestamp are as in the line, of any type.
Exported = tuple[Any, dict[str, Any], Any, dict[str, Any] | None]


def unwrap(document: dict[str, Any]) -> Exported | None:
    """Find the message in a parsed line; None without one (a key alone, a live marker, ...)."""
    envelope = document
    value = document.get("value")
    if type(value) is not dict or not _may_be_message(value):
        if "author" in document and "content" in document:
            envelope, value = {}, document
        elif type(value) is dict and type(value.get("value")) is dict and _may_be_message(value["value"]):
            envelope = value
            value = envelope["value"]
        else:
            return None
    decrypted = None
    if "meta" in envelope:
        value, decrypted = _reseal_from_envelope(value, envelope["meta"])
    if "meta" in value or "cyphertext" in value:
        value, decrypted = _reseal_from_value(value)
    return envelope.get("key"), value, envelope.get("timestamp"), decrypted


def _may_be_message(value: dict[str, Any]) -> bool:
    return "author" in value or any(name in value for name in _MESSAGE_HINTS)


def _reseal_from_envelope(value: dict[str, Any], meta: Any) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Restore the signed content of ssb-db2: the envelope's ``meta.originalContent``."""
    if type(meta) is not dict or type(meta.get("originalContent")) is not str or "content" not in value:
        return value, None
    return {**value, "content": meta["originalContent"]}, _decrypted(value)


def _reseal_from_value(value: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Restore the signed content of ssb-db: ``value.meta.original``, in older exports ``value.cyphertext``."""
    meta = value.get("meta")
    original = meta.get("original") if type(meta) is dict else None
    if type(original) is not dict or "content" not in original:
        if meta is not None or type(value.get("cyphertext")) is not str or value.get("private") is not True:
            return value, None
        original = {"content": value["cyphertext"]}
    signed = {name: field for name, field in value.items() if name not in _UNBOX_FIELDS}
    signed.update(original)
    return signed, _decrypted(value)


def _decrypted(value: dict[str, Any]) -> dict[str, Any] | None:
    content = value.get("content")
    return content if type(content) is dict else None
