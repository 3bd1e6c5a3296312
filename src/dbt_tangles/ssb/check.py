"""The Arrow kernel: lines of a log in, one checked row each out.

Each line is parsed once and its canonical text printed once; signing, hashing and measuring share that text. Nothing a
line may hold raises an error: what cannot be used is a row with a reason.

Source: SSB protocol guide, "message format"; the rules are in `classic`, the export shapes in `shapes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from dbt_tangles.lines import MAX_LINE_BYTES, PLACE, check_in_turns, column_of
from dbt_tangles.ssb.canonical import (
    FAST_LINE_BYTES,
    InvalidUtf8Error,
    MalformedJsonError,
    TextTooLongError,
    canonical_bytes,
    compact_bytes,
    is_plain,
    is_plain_number,
    parse_exact,
    replace_surrogates,
    utf16_length,
)
from dbt_tangles.ssb.claims import Claim, tangle_claims
from dbt_tangles.ssb.classic import (
    MAX_UNITS,
    ORDER,
    ORDER_AUTHOR_FIRST,
    Reason,
    check_form,
    check_trusted,
    int32,
    is_type,
)
from dbt_tangles.ssb.classic import is_encrypted as is_encrypted_content
from dbt_tangles.ssb.group_claims import GroupClaim, epoch_key, group_claim
from dbt_tangles.ssb.ids import URI_SCHEME, hashed_bytes, hex_digests, normalise, sigil, sigils
from dbt_tangles.ssb.redact import SECRETS_PREFIX, Redaction, has_secrets
from dbt_tangles.ssb.shapes import unwrap
from dbt_tangles.ssb.signature import HMAC_KEY_BYTES, decode_signature, is_valid, public_key

CLAIM_TYPE = pa.struct(
    [
        pa.field("tangle_name", pa.string()),
        pa.field("root_id", pa.string()),
        pa.field("previous", pa.list_(pa.string())),
        pa.field("is_root", pa.bool_()),
        pa.field("defect", pa.string()),
    ]
)

#: The fields of `GroupClaim`.
GROUP_CLAIM_TYPE = pa.struct(
    [
        pa.field("kind", pa.string()),
        pa.field("invalid_reason", pa.string()),
        pa.field("group_uri", pa.string()),
        pa.field("group_root", pa.string()),
        pa.field("epoch_root", pa.string()),
        pa.field("previous_epochs", pa.list_(pa.string())),
        pa.field("epoch_id", pa.string()),
        pa.field("key_fingerprint", pa.string()),
        pa.field("feeds", pa.list_(pa.string())),
        pa.field("author_root", pa.string()),
        pa.field("unchecked_count", pa.int32()),
    ]
)

_RESULT = [
    pa.field("message_id", pa.string()),
    pa.field("claimed_id", pa.string()),
    pa.field("author", pa.string()),
    pa.field("sequence", pa.int32()),
    pa.field("previous_id", pa.string()),
    pa.field("asserted_at", pa.float64()),
    pa.field("received_at", pa.float64()),
    pa.field("content_type", pa.string()),
    pa.field("content", pa.string()),
    pa.field("is_encrypted", pa.bool_()),
    pa.field("is_decrypted", pa.bool_()),
    pa.field("is_signature_valid", pa.bool_()),
    pa.field("is_usable", pa.bool_()),
    pa.field("check_error", pa.string()),
    pa.field("text_digest", pa.string()),
]

#: epoch_key is a secret: no table may have it but the one that these rows are written to.
OUTPUT_SCHEMA = pa.schema(
    [
        *PLACE,
        *_RESULT,
        pa.field("claims", pa.list_(CLAIM_TYPE)),
        pa.field("group_claim", GROUP_CLAIM_TYPE),
        pa.field("epoch_key", pa.binary()),
    ]
)

# The place of the content among the columns after message_id.
_CONTENT = 7

# Lines are read, their signatures verified and their columns built in turns of so many rows. Each of the three evicts
# the others' code and data from the processor's caches, and texts of many lines are fresh memory: by one line or by a
# whole batch, the same work takes longer.
_TURN_ROWS = 512

_NO_CLAIMS: tuple[Claim, ...] = ()
_BAD_SIGNATURE = Reason.BAD_SIGNATURE.value

#: What a message says about a private group, and the secret if it begins an epoch.
_Group = tuple[GroupClaim, bytes | None]

#: A line as read: the values of `_RESULT` up to is_decrypted, then check_error, claims and the `_Group` or None, all as
#: they are if the signature holds, then what the signature check takes: text digest, public key, signature and
#: canonical text. The key is None where no check is due, the digest where there is no text. The id is in bytes, like
#: the digest, if signatures are verified: a column of ids is written in one go.
_Row = tuple[Any, ...]
_ROW_LENGTH = 18


@dataclass(frozen=True)
class CheckOptions:
    """How lines are checked.

    Attributes:
        verify_signatures: whether the full rules apply. If not (for logs whose signed bytes are gone) the claimed key
            is the id, every feed format is let in, and only an author, a sequence and a content are asked for.
        hmac_key: the 32 bytes of a private network's key; None on the public network.
        max_line_bytes: longer lines are rejected unread.
    """

    verify_signatures: bool = True
    hmac_key: bytes | None = None
    max_line_bytes: int = MAX_LINE_BYTES

    def __post_init__(self) -> None:
        """Refuse a key of the wrong size, which would silently fail every message."""
        if self.hmac_key is not None and len(self.hmac_key) != HMAC_KEY_BYTES:
            raise ValueError(f"hmac_key must have {HMAC_KEY_BYTES} bytes")


def check_batches(batches: Iterator[pa.RecordBatch], options: CheckOptions) -> Iterator[pa.RecordBatch]:
    """Check the lines of a log.

    Args:
        batches: record batches with the columns of `INPUT_SCHEMA`, in any order.
        options: see `CheckOptions`.

    Returns:
        Record batches of `OUTPUT_SCHEMA`: one row for each input row, in the same order. A very large batch comes back
        as several.
    """
    checker = _Checker(options)
    return check_in_turns(
        batches,
        lambda lines, lengths: _check_turn(lines.to_pylist(), lengths.to_pylist(), checker),
        _TURN_ROWS,
        OUTPUT_SCHEMA,
        "check_error",
    )


def _check_turn(lines: list[bytes | None], lengths: list[int | None], checker: _Checker) -> list[pa.Array]:
    """Check some lines: the columns from message_id on."""
    rows = list(map(checker.read, lines, lengths))
    ids, *plain, errors, claims, groups, digests, keys, signatures, texts = (
        map(list, zip(*rows, strict=True)) if rows else [[]] * _ROW_LENGTH
    )
    del rows
    verdicts = checker.verify(digests, keys, signatures, texts)
    for place, verdict in enumerate(verdicts):
        if verdict is False:
            errors[place] = _BAD_SIGNATURE
            claims[place] = _NO_CLAIMS
            groups[place] = None
    contents = plain[_CONTENT]
    plain[_CONTENT] = ()
    plain += [verdicts, [error is None for error in errors], errors]
    columns = [pa.array(values, field.type) for values, field in zip(plain, _RESULT[1:-1], strict=True)]
    columns[_CONTENT] = _utf8_array(contents)
    return [
        sigils(ids) if checker.is_verifying else pa.array(ids, pa.string()),
        *columns,
        hex_digests(digests),
        _claims_array(claims),
        *_group_arrays(groups),
    ]


def _utf8_array(values: list[bytes | None]) -> pa.StringArray:
    """Arrange texts that are known to be UTF-8 as a column."""
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum([0 if value is None else len(value) for value in values], out=offsets[1:])
    validity = None
    if None in values:
        is_present = [value is not None for value in values]
        validity = pa.py_buffer(np.packbits(is_present, bitorder="little").tobytes())
        values = [value or b"" for value in values]
    return pa.StringArray.from_buffers(len(values), pa.py_buffer(offsets), pa.py_buffer(b"".join(values)), validity)


def _claims_array(rows: list[Any]) -> pa.ListArray:
    """Build the nested column from its flat parts, which is much cheaper than from a dict for each claim."""
    offsets = np.zeros(len(rows) + 1, np.int32)
    np.cumsum([len(claims) for claims in rows], out=offsets[1:])
    parts = list(zip(*chain.from_iterable(rows), strict=True)) or [()] * CLAIM_TYPE.num_fields
    arrays = [pa.array(values, field.type) for values, field in zip(parts, CLAIM_TYPE, strict=True)]
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.StructArray.from_arrays(arrays, fields=list(CLAIM_TYPE)), type=pa.list_(CLAIM_TYPE)
    )


def _group_arrays(groups: list[_Group | None]) -> tuple[pa.Array, pa.Array]:
    """Build the columns group_claim and epoch_key."""
    if not any(groups):
        return pa.nulls(len(groups), GROUP_CLAIM_TYPE), pa.nulls(len(groups), pa.binary())
    nothing = ((None,) * GROUP_CLAIM_TYPE.num_fields, None)
    messages, keys = zip(*(group or nothing for group in groups), strict=True)
    parts = zip(*messages, strict=True)
    arrays = [column_of(part, field.type) for part, field in zip(parts, GROUP_CLAIM_TYPE, strict=True)]
    is_absent = pa.array([group is None for group in groups])
    return (
        pa.StructArray.from_arrays(arrays, fields=list(GROUP_CLAIM_TYPE), mask=is_absent),
        pa.array(keys, pa.binary()),
    )


class _Checker:
    """Reads lines and verifies signatures, remembering the verdicts on signatures.

    Verdicts are kept by the digest of the text, in two generations of bounded size: a log may hold any number of
    messages, and repeats tend to be close or whole.
    """

    _GENERATION = 2**17

    def __init__(self, options: CheckOptions) -> None:
        self._max_line_bytes = options.max_line_bytes
        self._hmac_key = options.hmac_key
        self.is_verifying = options.verify_signatures
        self._verdicts: dict[bytes, bool] = {}
        self._older_verdicts: dict[bytes, bool] = {}

    def read(self, raw: bytes | None, raw_length: int | None) -> _Row:
        """Turn a line into the values of its row."""
        if raw is None:
            raw = b""
        line_bytes = len(raw)
        if line_bytes > self._max_line_bytes or (raw_length is not None and raw_length > self._max_line_bytes):
            return _rejected(Reason.TOO_LONG)
        try:
            document = orjson.loads(raw)
        except orjson.JSONDecodeError:
            return self._read_odd(raw)
        if line_bytes <= FAST_LINE_BYTES and self.is_verifying:
            row = self._read_ordinary(document)
            if row is not None:
                return row
        return self._read_document(document, line_bytes)

    def _read_odd(self, raw: bytes) -> _Row:
        """Read a line that orjson refused, as JavaScript may accept it."""
        try:
            document = parse_exact(raw)
        except InvalidUtf8Error:
            return _rejected(Reason.INVALID_UTF8)
        except MalformedJsonError:
            return _rejected(Reason.MALFORMED_JSON)
        return _storable(self._read_document(document, len(raw)))

    def _read_ordinary(self, document: Any) -> _Row | None:
        """Read what nearly every line is: a sound message that needs no care, bare or in an envelope.

        Gives exactly what `_read_document` gives, in little more than half its time; None for anything less ordinary.
        """
        if type(document) is not dict or "meta" in document:
            return None
        value = document.get("value", document)
        if type(value) is not dict:
            return None
        claimed_id = received = None
        if value is not document:
            claimed_id = document.get("key")
            received = document.get("timestamp")
            if received is not None:
                if type(received) is not int and type(received) is not float:
                    return None
                received = _number(received)
        order = tuple(value)
        if order == ORDER:
            previous, sequence, author, asserted, hash_name, content, signature = value.values()
        elif order == ORDER_AUTHOR_FIRST:
            previous, author, sequence, asserted, hash_name, content, signature = value.values()
        else:
            return None
        key = public_key(author) if type(author) is str else None
        signature = decode_signature(signature)
        if (
            key is None
            or signature is None
            or type(sequence) is not int
            or not -(2**31) <= sequence < 2**31
            or not (type(asserted) is int or type(asserted) is float)
            or not is_plain_number(asserted)
            or hash_name != "sha256"
            or not (previous is None or (type(previous) is str and previous < URI_SCHEME))
            or not (claimed_id is None or (type(claimed_id) is str and claimed_id < URI_SCHEME))
        ):
            return None
        content_type = None
        is_encrypted = type(content) is str
        if is_encrypted:
            if not is_encrypted_content(content):
                return None
        elif type(content) is dict:
            content_type = content.get("type")
            if not is_type(content_type) or content_type.startswith(SECRETS_PREFIX):
                return None
        else:
            return None
        try:
            text = orjson.dumps(value, option=orjson.OPT_INDENT_2)
            if not is_encrypted and not is_plain(content):
                return None
        except (TypeError, RecursionError):  # nested too deep
            return None

        digest = sha256(text).digest()
        if text.isascii():
            if len(text) > MAX_UNITS:
                return None
            message_id = digest
        else:
            utf16 = text.decode().encode("utf-16-le")
            if len(utf16) > 2 * MAX_UNITS:
                return None
            message_id = sha256(utf16[::2]).digest()
        claims: Any = _NO_CLAIMS
        if not is_encrypted and ("tangles" in content or "root" in content or "branch" in content):
            claims = tangle_claims(content)
        return (
            message_id,
            claimed_id,
            author,
            sequence,
            previous,
            asserted,
            received,
            content_type,
            orjson.dumps(content),
            is_encrypted,
            False,
            None,
            claims,
            None,
            digest,
            key,
            signature,
            text,
        )

    def _read_document(self, document: Any, line_bytes: int) -> _Row:
        """Read any parsed line."""
        exported = unwrap(document)
        if type(exported) is not tuple:
            return _rejected(exported)
        claimed, value, received, decrypted = exported

        try:
            text, is_plain_text = canonical_bytes(value, line_bytes)
        except TextTooLongError:
            text, is_plain_text, units, digest, message_id = b"", False, MAX_UNITS + 1, None, None
        else:
            units = utf16_length(text.decode())
            digest = sha256(text).digest()
            message_id = sha256(hashed_bytes(text.decode())).digest()

        claimed_id = normalise(claimed) if type(claimed) is str else None
        key = signature = None
        if self.is_verifying:
            reason = check_form(value)
            if reason is Reason.ORDER_LOST or reason is Reason.OTHER_FORMAT:
                message_id = None
            if reason is None and (units > MAX_UNITS or digest is None):
                reason = Reason.TOO_LONG
            if reason is None:
                key = public_key(value["author"])
                signature = decode_signature(value["signature"])
        else:
            reason = check_trusted(value)
            if claimed_id is not None:
                message_id = claimed_id
            elif message_id is not None:
                message_id = sigil(message_id)
            elif reason is None:
                reason = Reason.TOO_LONG

        signed_content = value.get("content")
        content = signed_content if decrypted is None else decrypted
        previous = value.get("previous")
        group = None
        if has_secrets(content) or has_secrets(previous):
            redaction = Redaction(*filter(has_secrets, (content, previous)))
            if reason is None:
                group = _group(content, redaction)
            # Nothing below sees a secret. Numbers and indices among the keys stay, so a plain text is still plain.
            content = redaction.value(content)
            if type(previous) is not str:  # an id, which whoever picks it for a secret cannot break the feed by
                previous = redaction.value(previous)
        claims: Any = _NO_CLAIMS
        if reason is None and type(content) is dict:
            claims = tangle_claims(content)
        return (
            message_id,
            claimed_id,
            _string(value.get("author")),
            int32(value.get("sequence")),
            _previous_id(previous),
            _number(value.get("timestamp")),
            _number(received),
            _string(content.get("type")) if type(content) is dict else None,
            _content_text(content, is_plain_text and decrypted is None) if "content" in value else None,
            type(signed_content) is str,
            decrypted is not None,
            None if reason is None else reason.value,
            claims,
            group,
            digest,
            key,
            signature,
            text,
        )

    def verify(
        self,
        digests: list[bytes | None],
        keys: list[bytes | None],
        signatures: list[bytes | None],
        texts: list[bytes | None],
    ) -> list[bool | None]:
        """Verify signatures, or remember what came of them before; None where there is no key."""
        if len(self._verdicts) >= self._GENERATION:
            self._older_verdicts = self._verdicts
            self._verdicts = {}
        known = self._verdicts
        older = self._older_verdicts
        verdicts: list[bool | None] = []
        for digest, key, signature, text in zip(digests, keys, signatures, texts, strict=True):
            if key is None:
                verdicts.append(None)
                continue
            verdict = known.get(digest)
            if verdict is None:
                verdict = older.get(digest)
                if verdict is None:
                    verdict = is_valid(key, signature, text, self._hmac_key)
                known[digest] = verdict
            verdicts.append(verdict)
        return verdicts


def _rejected(reason: Reason) -> _Row:
    return (*(None,) * 9, False, False, reason.value, _NO_CLAIMS, None, None, None, None, None)


def _group(content: Any, redaction: Redaction) -> _Group | None:
    """What a content says about a group, judged with the secrets in place and told without."""
    message = group_claim(content)
    return None if message is None else (message.with_strings(redaction.text), epoch_key(content, message))


def _content_text(content: Any, is_plain: bool) -> bytes | None:
    if is_plain:
        return orjson.dumps(content)
    try:
        return compact_bytes(content)
    except TextTooLongError:
        return None


def _previous_id(previous: Any) -> str | None:
    # What is neither null nor a string keeps its JSON text, so that no feed takes it for a first message's null.
    if previous is None or type(previous) is str:
        return previous and normalise(previous)
    text = _content_text(previous, False)
    return None if text is None else text.decode()


def _string(value: Any) -> str | None:
    return value if type(value) is str else None


def _number(number: Any) -> float | None:
    # Minus zero becomes zero: the two are equal wherever lines are compared, and still print differently.
    return float(number) + 0.0 if type(number) is int or type(number) is float else None


def _storable(row: _Row) -> _Row:
    """Replace lone surrogates, for which UTF-8 and thus Arrow have no form. The content is JSON and escapes them."""
    *values, claims, group, digest, key, signature, text = row
    if group is not None:
        group = (group[0].with_strings(replace_surrogates), group[1])
    # Names that differed only in those are one name now, and a message makes one claim a tangle: the first stays.
    distinct: dict[Any, Any] = {}
    for claim in (tuple(map(_storable_string, claim)) for claim in claims):
        distinct.setdefault(claim[0], claim)
    claims = list(distinct.values())
    return (*map(_storable_string, values), claims, group, digest, key, signature, text)


def _storable_string(value: Any) -> Any:
    if type(value) is str:
        return replace_surrogates(value)
    if type(value) is list:
        return [replace_surrogates(reference) for reference in value]
    return value
