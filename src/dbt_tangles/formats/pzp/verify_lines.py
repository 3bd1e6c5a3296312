"""Verifies the lines of a pzp log: one row per line (pzp-db 1.0.4, msg v4).

Any line is allowed: an unusable line becomes a row with a reason. The rules are in `rules`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha512
from typing import Any, NamedTuple

import pyarrow as pa
from nacl.bindings import crypto_sign_open
from nacl.exceptions import BadSignatureError

from dbt_tangles.formats.json.numbers import safe_integer
from dbt_tangles.formats.json.parse import LineError, LineReasons, parse_object
from dbt_tangles.formats.json.printing import CANON, NoCanonicalFormError, sorted_bytes
from dbt_tangles.formats.json.strings import first_of_each, storable
from dbt_tangles.formats.pzp import base58
from dbt_tangles.formats.pzp.items import tokens_of
from dbt_tangles.formats.pzp.rules import (
    SELF,
    Reason,
    account_reason,
    domain_reason,
    is_moot,
    read_tangle,
    shape_reason,
)
from dbt_tangles.formats.verdicts import Verdicts
from dbt_tangles.ingest.line_checks import MAX_LINE_BYTES, check_in_turns, schema_of
from dbt_tangles.kernel_runtime.row_schema import Int32, Int64, columns_of
from dbt_tangles.reasons import Reasons

_TURN_ROWS = 512
_SIGNED_TAG = b":msg-v4:"
_SIGKEY_BYTES, _SIGNATURE_BYTES, _HASH_BYTES = 32, 64, 32
_SIGNING_PURPOSES = ("sig", "shs-and-sig")
_SIGNING_ALGORITHM = "ed25519"
_LINE_REASONS = LineReasons(
    Reason.TOO_LONG, Reason.INVALID_UTF8, Reason.MALFORMED_JSON, Reason.NOT_A_MESSAGE, not_an_object_detail=None
)


class Tangle(NamedTuple):
    """A message's entry for a tangle that it names."""

    root_id: str
    depth: Int64 | None
    prev: list[str]
    defect: Reason | None


@dataclass(slots=True)
class Row:
    """The result of a line; see `verify_batches`."""

    message_id: str | None = None
    claimed_id: str | None = None
    account: str | None = None
    account_tips: list[str] | None = None
    domain: str | None = None
    sigkey: str | None = None
    is_moot: bool = False
    tangles: Sequence[Tangle] = ()
    data_kind: str | None = None
    add: list[str] | None = None
    del_: list[str] | None = None
    supersedes: list[str] | None = None
    key_action: str | None = None
    key: str | None = None
    is_signing_key: bool | None = None
    may_add_keys: bool | None = None
    may_delete_keys: bool | None = None
    is_data_valid: bool | None = None
    is_signature_valid: bool | None = None
    is_usable: bool = False
    reject_reason: Reasons | None = None
    reject_rank: Int32 = 0
    detail: str | None = None


OUTPUT_SCHEMA = schema_of(Row)


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """Options of the verification.

    Attributes:
        max_line_bytes: Longer lines are rejected unread.
        verify_signatures: Whether the full rules apply. If not (for logs whose signed bytes are lost), the claimed id
            is the id, and a message needs only an account, a domain, data of a legal kind and readable tangles.
    """

    max_line_bytes: int = MAX_LINE_BYTES
    verify_signatures: bool = True


def verify_batches(batches: Iterator[pa.RecordBatch], options: VerifyOptions) -> Iterator[pa.RecordBatch]:
    """Verify the lines of a log.

    Args:
        batches: Record batches with the columns of `INPUT_SCHEMA`, in any order.
        options: See `VerifyOptions`.

    Returns:
        Record batches of `OUTPUT_SCHEMA`: one row for each input row, in the same order.
        The columns:
            `message_id`: computed, or as claimed if signatures are not verified; null if neither is available;
            `claimed_id`: the envelope's `id`, unverified;
            `account_tips`: null as well if the message has null or another value instead of an array;
            `is_moot`: a feed's root. Its id does not cover its sigkey and signature, so these are ignored;
            `tangles`: one for each root that the message names; `prev` ends before the first bad entry, `defect` is
            the first defect of depth and prev that is visible without other messages;
            `data_kind`: `null`, `object`, `string`, `empty` (the string "", which the peer treats as erased), or null
            if the line has no message or its data are of another kind;
            `add`, `del`: tokens (see `items`), if the data is an object with arrays `add`, `del` and `supersedes`,
            else null;
            `supersedes`: its strings, empty if it is itself a string (whose characters are not ids); null if the data
            is not erased and JavaScript cannot iterate over its `supersedes`, so that the peer fails;
            `key_action`, `key`, `is_signing_key`, `may_add_keys`, `may_delete_keys`: the change that a message of an
            account tangle makes to an ed25519 key;
            `is_data_valid`: whether hash and size are those of the data; null without data, and if not verified;
            `is_signature_valid`: null if not checked: for moots, and lines rejected before;
            `reject_reason`: the first in the peer's order that is visible without other messages, null for a usable
            line (`is_usable`). A tangle's defect counts if every tangle has one. `reject_rank` is its place in that
            order, from 1; 0 for null;
            `detail`: more about a line that is not JSON, or not a single message.
    """
    return check_in_turns(batches, _Verifier(options).check, _TURN_ROWS, OUTPUT_SCHEMA)


@dataclass(slots=True)
class _Line(Row):
    """A line as read: its row, and the input of the steps that process many lines at once.

    Attributes:
        digest: The hash whose base58 is the id.
        text: The canonical metadata, which are signed.
        sig: The signature in base58.
        data_hash: The hash of the data according to the metadata, in base58; null if the data are not verified.
        data_digest: The actual hash; null if the data have no canonical form.
        is_data_sized: Whether the data are verified.
        is_unsized: Whether the size differs from the metadata.
    """

    digest: bytes | None = None
    text: bytes = b""
    sig: str | None = None
    data_hash: str | None = None
    data_digest: bytes | None = None
    is_data_sized: bool = False
    is_unsized: bool = False


class _Verifier:
    """Reads lines and verifies signatures."""

    def __init__(self, options: VerifyOptions) -> None:
        self._max_line_bytes = options.max_line_bytes
        self._is_trusted = not options.verify_signatures
        self._verdicts = Verdicts()

    def check(self, lines: list[bytes | None], lengths: list[int | None]) -> dict[str, pa.Array | Sequence[Any]]:
        """Verify some lines and return the columns of `Row`."""
        rows = list(map(self._read, lines, lengths))
        ids = base58.encode([row.digest for row in rows])
        if self._is_trusted:
            computed = ids.to_pylist()
            ids = [one if row.claimed_id is None else row.claimed_id for one, row in zip(computed, rows, strict=True)]
        else:
            _judge_data(rows)
        for row in rows:
            if row.tangles and row.reject_reason is None:
                defects = [tangle.defect for tangle in row.tangles]
                if None not in defects:
                    row.reject_reason = min(defects, key=lambda reason: reason.rank)
        if not self._is_trusted:
            self._verify_signatures(rows)
        for row in rows:
            row.is_usable = row.reject_reason is None
            row.reject_rank = 0 if row.reject_reason is None else row.reject_reason.rank
        return columns_of(Row, rows) | {"message_id": ids}

    def _verify_signatures(self, rows: list[_Line]) -> None:
        due = [row for row in rows if row.reject_reason is None and not row.is_moot]
        signatures = base58.decode([row.sig for row in due], _SIGNATURE_BYTES)
        for row, signature in zip(due, signatures, strict=True):
            claim = (row.digest, row.sigkey, row.sig)
            row.is_signature_valid = signature is not None and self._verdicts.find(
                claim, _is_signed, _public_key(row.sigkey), signature, row.text
            )
            if not row.is_signature_valid:
                row.reject_reason = Reason.BAD_SIGNATURE

    def _read(self, raw: bytes | None, raw_length: int | None) -> _Line:
        row = _Line()
        try:
            document, is_exact = parse_object(raw, raw_length, self._max_line_bytes, _LINE_REASONS)
        except LineError as error:
            row.reject_reason, row.detail = error.args
            return row
        self._read_document(row, document)
        return _storable(row) if is_exact else row

    def _read_document(self, row: _Line, document: dict[str, Any]) -> None:
        message = document
        if "metadata" not in document and type(document.get("msg")) is dict:
            message = document["msg"]
        metadata = message.get("metadata")
        if message is not document and type(document.get("id")) is str:
            row.claimed_id = document["id"]
        if type(metadata) is not dict:
            row.reject_reason = Reason.NOT_A_MESSAGE
            return
        try:
            row.text = sorted_bytes(metadata, CANON)
        except NoCanonicalFormError:
            if row.claimed_id is None or not self._is_trusted:
                row.reject_reason = Reason.NO_ID
                return
        else:
            row.digest = sha512(row.text).digest()[:_HASH_BYTES]

        row.reject_reason = shape_reason(message, self._is_trusted)
        if row.reject_reason is not None:
            return
        # A message rejected below still shows all fields that were read.
        row.account, row.domain = _string(metadata["account"]), _string(metadata["domain"])
        row.sigkey, row.sig = _string(message.get("sigkey")), _string(message.get("sig"))
        row.account_tips = _strings(metadata["accountTips"])
        data = message["data"]
        reason = _read_data(row, data)
        if not self._is_trusted and _public_key(row.sigkey) is None:
            reason = Reason.BAD_SIGKEY
        if is_moot(message):
            row.is_moot = True
            row.reject_reason = reason
            return
        _read_tangles(row, metadata["tangles"], self._is_trusted)
        if reason is None and not self._is_trusted:
            reason = _measure_data(row, metadata, data)
        if reason is None:
            reason = domain_reason(metadata["domain"], self._is_trusted) or account_reason(metadata)
        if row.account == SELF:
            _read_key_change(row, data)
        elif reason is None and not row.tangles:
            reason = Reason.NO_TANGLE
        row.reject_reason = reason


def _read_data(row: _Line, data: Any) -> Reason | None:
    """Read the kind, the items and `supersedes` of the data; return why they are not legal."""
    if data is None:
        row.data_kind = "null"
        row.supersedes = []
        return None
    if type(data) is str:
        row.data_kind = "string" if data else "empty"
        row.supersedes = None if data else []
        return None
    if type(data) is not dict:
        return Reason.BAD_DATA
    row.data_kind = "object"
    add, deleted, supersedes = data.get("add"), data.get("del"), data.get("supersedes")
    if type(supersedes) is list:
        row.supersedes = _strings(supersedes)
        if type(add) is list and type(deleted) is list:
            row.add, row.del_ = tokens_of(add), tokens_of(deleted)
    elif type(supersedes) is str:
        row.supersedes = []
    return None


def _read_tangles(row: _Line, tangles: Any, is_trusted: bool) -> None:
    if type(tangles) is dict:
        row.tangles = [
            Tangle(root, depth, prev, defect)
            for root, entry in tangles.items()
            if _is_truthy(entry)
            for depth, prev, defect in [read_tangle(entry, is_trusted)]
        ]


def _measure_data(row: _Line, metadata: dict[str, Any], data: Any) -> Reason | None:
    """Compare the size; `_judge_data` compares the hash."""
    size = safe_integer(metadata["dataSize"])
    if size is None or size < 0:
        return Reason.BAD_DATA_SIZE
    if data is None:
        return None
    row.is_data_sized = True
    row.data_hash = _string(metadata["dataHash"])
    try:
        text = sorted_bytes(data, CANON)
    except NoCanonicalFormError:
        return None
    row.data_digest = sha512(text).digest()[:_HASH_BYTES]
    row.is_unsized = len(text) != size
    return None


def _judge_data(rows: list[_Line]) -> None:
    hashes = base58.encode([row.data_digest for row in rows]).to_pylist()
    for row, data_hash in zip(rows, hashes, strict=True):
        if not row.is_data_sized:
            continue
        is_hash_right = data_hash is not None and data_hash == row.data_hash
        row.is_data_valid = is_hash_right and not row.is_unsized
        # All reasons found so far come later in the peer's order.
        if not is_hash_right:
            row.reject_reason = Reason.DATA_HASH_MISMATCH
        elif row.is_unsized:
            row.reject_reason = Reason.DATA_SIZE_MISMATCH


@lru_cache(maxsize=2**16)
def _decode_key(sigkey: str) -> bytes | None:
    return base58.decode([sigkey], _SIGKEY_BYTES)[0]


def _public_key(sigkey: str | None) -> bytes | None:
    # Longer strings are unsafe to cache.
    return None if sigkey is None or len(sigkey) > base58.longest(_SIGKEY_BYTES) else _decode_key(sigkey)


def _is_signed(key: bytes, signature: bytes, text: bytes) -> bool:
    try:
        crypto_sign_open(signature + _SIGNED_TAG + text, key)
    except BadSignatureError:
        return False
    return True


def _read_key_change(row: _Line, data: Any) -> None:
    """Read the change that an account message makes to an ed25519 key."""
    key = data.get("key") if type(data) is dict else None
    if type(key) is not dict or key.get("algorithm") != _SIGNING_ALGORITHM:
        return
    action, bytes_text, powers = data.get("action"), key.get("bytes"), data.get("powers")
    if action not in ("add", "del") or type(bytes_text) is not str:
        return
    powers = powers if action == "add" and type(powers) is list else []
    row.key_action, row.key = action, bytes_text
    row.is_signing_key = key.get("purpose") in _SIGNING_PURPOSES
    row.may_add_keys, row.may_delete_keys = "add" in powers, "del" in powers


def _is_truthy(value: Any) -> bool:
    """Whether a parsed value is truthy in JavaScript, where empty objects and arrays are too."""
    return bool(value) or type(value) is dict or type(value) is list


def _string(value: Any) -> str | None:
    return value if type(value) is str else None


def _strings(values: Any) -> list[str] | None:
    if type(values) is not list:
        return None
    return [value for value in values if type(value) is str]


def _storable(row: _Line) -> _Line:
    """Replace lone surrogates, which Arrow cannot store. Only rejected or trusted messages can have them."""
    for name in ("claimed_id", "account", "domain", "sigkey", "sig", "data_hash", "key", "account_tips", "supersedes"):
        setattr(row, name, storable(getattr(row, name)))
    row.tangles = first_of_each(map(storable, row.tangles))
    return row
