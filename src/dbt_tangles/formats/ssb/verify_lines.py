"""Verifies the lines of an SSB log: one row per line (SSB protocol guide, "message format").

Each line is parsed once and its canonical text printed once, for signature, hash and length. Any line is allowed: an
unusable line becomes a row with a reason.

The rules are in `classic`, the export shapes in `shapes`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, NamedTuple

import orjson
import pyarrow as pa

from dbt_tangles.formats.json.numbers import int32
from dbt_tangles.formats.json.parse import LineError, LineReasons, parse_object
from dbt_tangles.formats.json.printing import TextTooLongError, canonical_bytes, compact_bytes
from dbt_tangles.formats.json.strings import first_of_each, replace_surrogates, storable
from dbt_tangles.formats.ssb.claims import Claim, tangle_claims
from dbt_tangles.formats.ssb.classic import MAX_UNITS, Reason, check_form, check_trusted
from dbt_tangles.formats.ssb.contents import preview
from dbt_tangles.formats.ssb.group_claims import GroupClaim, epoch_key, group_claim, sealed_with
from dbt_tangles.formats.ssb.ids import hashed_bytes, normalise, referenced_id, sigil
from dbt_tangles.formats.ssb.redact import Redaction, has_secrets
from dbt_tangles.formats.ssb.shapes import unwrap
from dbt_tangles.formats.ssb.signature import HMAC_KEY_BYTES, is_valid
from dbt_tangles.formats.verdicts import Verdicts
from dbt_tangles.ingest.line_checks import MAX_LINE_BYTES, check_in_turns, schema_of
from dbt_tangles.kernel_runtime.row_schema import Int32, columns_of
from dbt_tangles.reasons import Reasons

_TURN_ROWS = 512

_LINE_REASONS = LineReasons(
    Reason.TOO_LONG, Reason.INVALID_UTF8, Reason.MALFORMED_JSON, Reason.NOT_A_MESSAGE, not_an_object_detail=None
)


@dataclass(slots=True)
class Row:
    """The result of a line; see `verify_batches`."""

    message_id: str | None = None
    claimed_id: str | None = None
    author: str | None = None
    sequence: Int32 | None = None
    previous_id: str | None = None
    asserted_ms: float | None = None
    received_ms: float | None = None
    content_type: str | None = None
    content: Annotated[bytes, pa.string()] | None = None
    is_encrypted: bool = False
    is_decrypted: bool = False
    is_signature_valid: bool | None = None
    is_usable: bool = False
    check_error: Reasons | None = None
    detail: str | None = None
    text_digest: str | None = None
    claims: Sequence[Claim] = ()
    group_claim: GroupClaim | None = None
    epoch_key: bytes | None = None
    first_words: str | None = None
    own_name: str | None = None


OUTPUT_SCHEMA = schema_of(Row)


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """Options of the verification.

    Attributes:
        max_line_bytes: Longer lines are rejected unread.
        verify_signatures: Whether the full rules apply. If not (for logs whose signed bytes are lost), the claimed key
            is the id, every feed format is allowed, and a message needs only an author, a sequence and a content.
        hmac_key: The 32 bytes of a private network's key; null on the public network.
    """

    max_line_bytes: int = MAX_LINE_BYTES
    verify_signatures: bool = True
    hmac_key: bytes | None = None

    def __post_init__(self) -> None:
        """Reject a key of the wrong size, which would silently fail every message."""
        if self.hmac_key is not None and len(self.hmac_key) != HMAC_KEY_BYTES:
            raise ValueError(
                f"hmac_key has {len(self.hmac_key)} bytes; pass the {HMAC_KEY_BYTES} bytes of the network's key"
            )


def verify_batches(batches: Iterator[pa.RecordBatch], options: VerifyOptions) -> Iterator[pa.RecordBatch]:
    """Verify the lines of a log.

    Args:
        batches: Record batches with the columns of `INPUT_SCHEMA`, in any order.
        options: See `VerifyOptions`.

    Returns:
        Record batches of `OUTPUT_SCHEMA`: one row for each input row, in the same order.
        The columns:
            `message_id`: computed, or as claimed if signatures are not verified; null if neither is available;
            `claimed_id`: the envelope's key, unverified;
            `content`: decrypted where the log has it decrypted, without secrets;
            `is_encrypted`: the signed content is encrypted; `is_decrypted`: the log shows the decrypted content;
            `is_signature_valid`: null where it was not checked: verification is off, or the line was rejected before;
            `check_error`: the first reason why it is not usable, null for a usable line (`is_usable`);
            `detail`: more about a line that is not JSON, or not a single message;
            `text_digest`: of the canonical text in UTF-8, null if that was too long to print;
            `claims`, `group_claim`: of a usable message;
            `epoch_key`: a secret, allowed only in the table that these rows are written to;
            `first_words`: the beginning of the content's text, see `preview`;
            `own_name`: likewise, of the name that an `about` message gives to its author.
    """
    return check_in_turns(batches, _Verifier(options).check, _TURN_ROWS, OUTPUT_SCHEMA, "check_error")


class _Signed(NamedTuple):
    """A message of which only the signature has still to be verified."""

    row: Row
    form: tuple[bytes, bytes]  # See `check_form`
    text: bytes


class _Verifier:
    """Reads lines and verifies signatures.

    Reading and verifying evict each other's code and data from the processor's caches, so the signatures of many lines
    are verified together.
    """

    def __init__(self, options: VerifyOptions) -> None:
        self._options = options
        # Without signatures, the claimed key is the id: a message may have any string as its id.
        self._id_of = referenced_id if options.verify_signatures else normalise
        self._verdicts = Verdicts()
        self._signed: list[_Signed] = []

    def check(self, lines: list[bytes | None], lengths: list[int | None]) -> dict[str, Sequence[Any]]:
        """Verify some lines and return the columns of `Row`."""
        rows = list(map(self.read, lines, lengths))
        for row, form, text in self._signed:
            verdict = self._verdicts.find(row.text_digest, is_valid, *form, text, self._options.hmac_key)
            row.is_signature_valid = verdict
            if not verdict:
                row.check_error = Reason.BAD_SIGNATURE
                row.claims, row.group_claim, row.epoch_key = (), None, None
        self._signed.clear()
        return columns_of(Row, rows) | {"is_usable": [row.check_error is None for row in rows]}

    def read(self, raw: bytes | None, raw_length: int | None) -> Row:
        """Read a line."""
        row = Row()
        try:
            document, is_exact = parse_object(raw, raw_length, self._options.max_line_bytes, _LINE_REASONS)
        except LineError as error:
            row.check_error, row.detail = error.args
            return row
        self._read_document(row, document, len(raw))
        return _storable(row) if is_exact else row

    def _read_document(self, row: Row, document: dict[str, Any], line_bytes: int) -> None:
        exported = unwrap(document)
        if exported is None:
            row.check_error = Reason.NOT_A_MESSAGE
            return
        claimed, value, received, decrypted = exported
        if type(claimed) is str:
            row.claimed_id = normalise(claimed)
        is_plain = self._judge(row, value, line_bytes)
        content, previous = _read_content(row, value, decrypted)
        row.author = _string(value.get("author"))
        row.sequence = int32(value.get("sequence"))
        # A previous other than null or a string is stored as its JSON text, so that no feed treats it as the null of a
        # first message.
        if previous is not None:
            row.previous_id = normalise(previous if type(previous) is str else compact_bytes(previous).decode())
        row.asserted_ms = _number(value.get("timestamp"))
        row.received_ms = _number(received)
        if "content" in value:
            # A decrypted content is not part of the printed value.
            row.content = orjson.dumps(content) if is_plain and decrypted is None else compact_bytes(content)
        if type(content) is dict:
            row.content_type = _string(content.get("type"))
            row.first_words = preview(content.get("text"))
            if row.content_type == "about" and content.get("about") == row.author:
                row.own_name = preview(content.get("name"))
            if row.check_error is None:
                row.claims = tangle_claims(content, self._id_of)

    def _judge(self, row: Row, value: dict[str, Any], line_bytes: int) -> bool:
        """Set id, digest and the first reason against a message; return whether its canonical text is plain."""
        text, units, is_plain = b"", MAX_UNITS + 1, False
        try:
            text, is_plain = canonical_bytes(value, line_bytes)
        except TextTooLongError:
            pass
        else:
            hashed = text if text.isascii() else hashed_bytes(text.decode())  # one byte per UTF-16 unit
            units, digest = len(hashed), sha256(text)
            row.text_digest = digest.hexdigest()
            row.message_id = sigil((digest if hashed is text else sha256(hashed)).digest())
        if not self._options.verify_signatures:
            row.message_id = row.message_id if row.claimed_id is None else row.claimed_id
            row.check_error = check_trusted(value) or (Reason.TOO_LONG if row.message_id is None else None)
            return is_plain
        form = check_form(value)
        if type(form) is Reason:
            row.check_error = form
            if form is Reason.ORDER_LOST or form is Reason.OTHER_FORMAT:
                row.message_id = None
        elif units > MAX_UNITS:
            row.check_error = Reason.TOO_LONG
        else:
            self._signed.append(_Signed(row, form, text))
        return is_plain


def _read_content(row: Row, value: dict[str, Any], decrypted: Any) -> tuple[Any, Any]:
    """Read group claims; return content and previous without secrets."""
    signed_content, previous = value.get("content"), value.get("previous")
    content = signed_content if decrypted is None else decrypted
    row.is_decrypted = decrypted is not None
    row.is_encrypted = type(signed_content) is str
    is_id = previous is None or type(previous) is str
    if not has_secrets(content) and (is_id or not has_secrets(previous)):
        return content, previous
    redaction = Redaction(*filter(has_secrets, (content, previous)))
    claim = group_claim(content) if row.check_error is None else None
    if claim is not None:  # validated with the secrets, stored without them
        if row.is_decrypted and claim.invalid_reason is None:
            key = sealed_with(content, signed_content, value.get("author"), previous)
            claim = claim._replace(sealed_with=key)
        row.group_claim = claim.with_strings(redaction.text)
        row.epoch_key = epoch_key(content, claim)
    # Numbers and index keys stay, so a plain text is still plain. An id stays, so that a secret chosen to equal it
    # cannot break the feed.
    return redaction.value(content), previous if is_id else redaction.value(previous)


def _string(value: Any) -> str | None:
    return value if type(value) is str else None


def _number(number: Any) -> float | None:
    # Minus zero becomes zero: the two compare as equal and print differently.
    return float(number) + 0.0 if type(number) is int or type(number) is float else None


def _storable(row: Row) -> Row:
    """Replace lone surrogates, which UTF-8 and thus Arrow cannot store. The content is JSON and escapes them."""
    for name in ("message_id", "claimed_id", "author", "previous_id", "content_type"):
        setattr(row, name, storable(getattr(row, name)))
    # A message makes one claim per tangle.
    row.claims = first_of_each(map(storable, row.claims))
    if row.group_claim is not None:
        row.group_claim = row.group_claim.with_strings(replace_surrogates)
    return row
