"""The Arrow kernel: lines of a pzp log in, one checked row each out.

Nothing a line may hold raises an error: what cannot be used is a row with a reason.

Source: pzp-db 1.0.4, msg v4; the rules are in `rules`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha512
from typing import Any

import orjson
import pyarrow as pa
from nacl.bindings import crypto_sign_open
from nacl.exceptions import BadSignatureError

from dbt_tangles.lines import MAX_LINE_BYTES, PLACE, check_in_turns, column_of
from dbt_tangles.pzp import base58
from dbt_tangles.pzp.canonical import NoCanonicalFormError, canonical_bytes
from dbt_tangles.pzp.items import tokens_of
from dbt_tangles.pzp.rules import (
    SELF,
    Reason,
    account_reason,
    domain_reason,
    is_moot,
    read_tangle,
    safe_integer,
    shape_reason,
)
from dbt_tangles.ssb.canonical import InvalidUtf8Error, MalformedJsonError, parse_exact, replace_surrogates

STRINGS = pa.list_(pa.string())
TANGLE_TYPE = pa.struct(
    [
        pa.field("root_id", pa.string()),
        pa.field("depth", pa.int64()),
        pa.field("prev", pa.list_(pa.string())),
        pa.field("defect", pa.string()),
    ]
)

_RESULT = [
    pa.field("message_id", pa.string()),
    pa.field("claimed_id", pa.string()),
    pa.field("account", pa.string()),
    pa.field("account_tips", pa.list_(pa.string())),
    pa.field("domain", pa.string()),
    pa.field("sigkey", pa.string()),
    pa.field("is_moot", pa.bool_()),
    pa.field("tangles", pa.list_(TANGLE_TYPE)),
    pa.field("data_kind", pa.string()),
    pa.field("add", pa.list_(pa.string())),
    pa.field("del", pa.list_(pa.string())),
    pa.field("supersedes", pa.list_(pa.string())),
    pa.field("key_action", pa.string()),
    pa.field("key", pa.string()),
    pa.field("is_signing_key", pa.bool_()),
    pa.field("may_add_keys", pa.bool_()),
    pa.field("may_delete_keys", pa.bool_()),
    pa.field("is_data_valid", pa.bool_()),
    pa.field("is_signature_valid", pa.bool_()),
    pa.field("is_usable", pa.bool_()),
    pa.field("reject_reason", pa.string()),
    pa.field("reject_rank", pa.int8()),
]

OUTPUT_SCHEMA = pa.schema([*PLACE, *_RESULT])

_TURN_ROWS = 512
_SIGNED_TAG = b":msg-v4:"
_SIGKEY_BYTES, _SIGNATURE_BYTES, _HASH_BYTES = 32, 64, 32
_SIGNING_PURPOSES = ("sig", "shs-and-sig")
_SIGNING_ALGORITHM = "ed25519"


@dataclass(frozen=True)
class CheckOptions:
    """How lines are checked.

    Attributes:
        verify_signatures: whether the full rules apply. If not (for logs whose signed bytes are gone) the claimed id is
            the id, and only an account, a domain, data of a legal kind and readable tangles are asked for.
        max_line_bytes: longer lines are rejected unread.
    """

    verify_signatures: bool = True
    max_line_bytes: int = MAX_LINE_BYTES


class _Row:
    """A line as read, before what is done for many lines at a time."""

    __slots__ = (
        "account",
        "account_tips",
        "add",
        "claimed_id",
        "data_digest",
        "data_hash",
        "data_kind",
        "data_size",
        "deleted",
        "digest",
        "domain",
        "is_data_sized",
        "is_moot",
        "is_unsized",
        "key",
        "reason",
        "sig",
        "sigkey",
        "supersedes",
        "tangles",
        "text",
    )

    def __init__(self, reason: Reason | None = None) -> None:
        self.reason = reason
        self.account = self.account_tips = self.claimed_id = self.domain = self.sigkey = self.sig = None
        self.add = self.deleted = self.supersedes = self.data_kind = self.key = self.text = self.digest = None
        self.data_digest = self.data_hash = self.data_size = None
        self.is_moot = self.is_data_sized = self.is_unsized = False
        self.tangles: Sequence[tuple[Any, ...]] = ()


def check_batches(batches: Iterator[pa.RecordBatch], options: CheckOptions) -> Iterator[pa.RecordBatch]:
    """Check the lines of a log.

    Args:
        batches: record batches with the columns of `INPUT_SCHEMA`, in any order.
        options: see `CheckOptions`.

    Returns:
        Record batches of `OUTPUT_SCHEMA`: one row for each input row, in the same order. A very large batch comes back
        as several. The columns:
            `message_id`: computed, or as claimed where signatures are not verified; null where there is none;
            `claimed_id`: the envelope's `id`, which nothing vouches for;
            `account_tips`: null like an array that has none;
            `is_moot`: a feed's root. Its sigkey and signature are not covered by its id, and nobody looks at them;
            `tangles`: one for each root that the message names; `prev` ends before the first bad entry, `defect` is
            the first thing wrong with depth and prev, of whatever shows without other messages;
            `data_kind`: `null`, `object`, `string`, `empty` (the string "", which the peer treats as erased), or null
            where the line has no message;
            `add`, `del`: tokens (see `items`), where the data is an object with arrays `add`, `del` and `supersedes`,
            else null;
            `supersedes`: its strings, empty where it is a string (nothing of which is an id); null where the data is
            not erased and JavaScript cannot walk through its `supersedes`, so that the peer fails;
            `key_action`, `key`, `is_signing_key`, `may_add_keys`, `may_delete_keys`: what a message of an account
            tangle does to an ed25519 key;
            `is_data_valid`: whether hash and size are those of the data; null without data, and where not verified;
            `is_signature_valid`: null where it is not looked at: for moots, and what has been refused before;
            `reject_reason`: the first in the peer's order of what shows without other messages, null for what is
            usable (`is_usable`). A tangle's defect counts if every tangle has one. `reject_rank` is its place in that
            order, from 1; 0 for null.
    """
    return check_in_turns(batches, _Checker(options).check, _TURN_ROWS, OUTPUT_SCHEMA)


class _Checker:
    """Reads lines and verifies signatures, remembering keys and verdicts.

    Verdicts are kept in two generations of bounded size: a log may hold any number of messages, and repeats tend to be
    close or whole.
    """

    _GENERATION = 2**16
    _MAX_KEYS = 2**16

    def __init__(self, options: CheckOptions) -> None:
        self._max_line_bytes = options.max_line_bytes
        self._is_trusted = not options.verify_signatures
        self._keys: dict[str, bytes | None] = {}
        self._verdicts: dict[tuple[bytes, str, str], bool] = {}
        self._older_verdicts: dict[tuple[bytes, str, str], bool] = {}

    def check(self, lines: pa.Array, lengths: pa.Array) -> list[pa.Array]:
        """Check some lines: the columns from message_id on."""
        rows = list(map(self._read, lines.to_pylist(), lengths.to_pylist()))
        ids = base58.encode([row.digest for row in rows])
        if self._is_trusted:
            computed = ids.to_pylist()
            ids = pa.array(
                [one if row.claimed_id is None else row.claimed_id for one, row in zip(computed, rows, strict=True)],
                pa.string(),
            )
            data_verdicts: list[bool | None] = [None] * len(rows)
        else:
            data_verdicts = self._judge_data(rows)
        for row in rows:
            if row.tangles and row.reason is None:
                defects = [tangle[3] for tangle in row.tangles]
                if None not in defects:
                    row.reason = min(map(Reason, defects), key=lambda reason: reason.rank)
        verdicts: list[bool | None] = [None] * len(rows) if self._is_trusted else self._verify(rows)
        reasons = [row.reason for row in rows]
        return [
            ids,
            _column(rows, "claimed_id"),
            _column(rows, "account"),
            column_of([row.account_tips for row in rows], STRINGS),
            _column(rows, "domain"),
            _column(rows, "sigkey"),
            pa.array([row.is_moot for row in rows], pa.bool_()),
            column_of([row.tangles for row in rows], pa.list_(TANGLE_TYPE)),
            _column(rows, "data_kind"),
            column_of([row.add for row in rows], STRINGS),
            column_of([row.deleted for row in rows], STRINGS),
            column_of([row.supersedes for row in rows], STRINGS),
            *_key_columns([row.key for row in rows]),
            pa.array(data_verdicts, pa.bool_()),
            pa.array(verdicts, pa.bool_()),
            pa.array([reason is None for reason in reasons], pa.bool_()),
            pa.array([None if reason is None else reason.value for reason in reasons], pa.string()),
            pa.array([0 if reason is None else reason.rank for reason in reasons], pa.int8()),
        ]

    def _read(self, raw: bytes | None, raw_length: int | None) -> _Row:
        if raw is None:
            raw = b""
        if len(raw) > self._max_line_bytes or (raw_length is not None and raw_length > self._max_line_bytes):
            return _Row(Reason.TOO_LONG)
        try:
            return self._read_document(orjson.loads(raw))
        except orjson.JSONDecodeError:
            pass
        try:
            document = parse_exact(raw)
        except InvalidUtf8Error:
            return _Row(Reason.INVALID_UTF8)
        except MalformedJsonError:
            return _Row(Reason.MALFORMED_JSON)
        return _storable(self._read_document(document))

    def _read_document(self, document: Any) -> _Row:
        if type(document) is not dict:
            return _Row(Reason.NOT_A_MESSAGE)
        message = document
        if "metadata" not in document and type(document.get("msg")) is dict:
            message = document["msg"]
        metadata = message.get("metadata")
        row = _Row()
        if message is not document and type(document.get("id")) is str:
            row.claimed_id = document["id"]
        if type(metadata) is not dict:
            row.reason = Reason.NOT_A_MESSAGE
            return row
        try:
            row.text = canonical_bytes(metadata)
        except NoCanonicalFormError:
            if row.claimed_id is None or not self._is_trusted:
                row.reason = Reason.NO_ID
                return row
        else:
            row.digest = sha512(row.text).digest()[:_HASH_BYTES]

        row.reason = shape_reason(message, self._is_trusted)
        if row.reason is not None:
            return row
        # What is shown of a message that is refused below: all that can be.
        row.account, row.domain = _string(metadata["account"]), _string(metadata["domain"])
        row.sigkey, row.sig = _string(message.get("sigkey")), _string(message.get("sig"))
        row.account_tips = _strings(metadata["accountTips"])
        data = message["data"]
        reason = None if self._is_trusted else self._sigkey_reason(row.sigkey)
        data_reason = self._read_data(row, data)
        if reason is None:
            reason = data_reason
        if is_moot(message):
            row.is_moot = True
            row.reason = reason
            return row
        self._read_tangles(row, metadata["tangles"])
        if reason is None and not self._is_trusted:
            reason = self._measure_data(row, metadata, data)
        if reason is None:
            reason = domain_reason(metadata["domain"], self._is_trusted) or account_reason(metadata)
        if row.account == SELF:
            row.key = _key_change(data)
        elif reason is None and not row.tangles:
            reason = Reason.NO_TANGLE
        row.reason = reason
        return row

    def _sigkey_reason(self, sigkey: str | None) -> Reason | None:
        if sigkey is None:
            return Reason.BAD_SIGKEY
        if sigkey not in self._keys:
            if len(sigkey) > base58.longest(_SIGKEY_BYTES):  # nothing else is safe to remember
                return Reason.BAD_SIGKEY
            if len(self._keys) >= self._MAX_KEYS:
                self._keys.clear()
            self._keys[sigkey] = base58.decode([sigkey], _SIGKEY_BYTES)[0]
        return Reason.BAD_SIGKEY if self._keys[sigkey] is None else None

    def _read_data(self, row: _Row, data: Any) -> Reason | None:
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
                row.add, row.deleted = tokens_of(add), tokens_of(deleted)
        elif type(supersedes) is str:
            row.supersedes = []
        return None

    def _read_tangles(self, row: _Row, tangles: Any) -> None:
        if type(tangles) is dict:
            row.tangles = [
                (root, depth, prev, None if defect is None else defect.value)
                for root, entry in tangles.items()
                if _is_truthy(entry)
                for depth, prev, defect in [read_tangle(entry, self._is_trusted)]
            ]

    def _measure_data(self, row: _Row, metadata: dict[str, Any], data: Any) -> Reason | None:
        """Compare the size, and leave the hash to `_judge_data`."""
        size = safe_integer(metadata["dataSize"])
        if size is None or size < 0:
            return Reason.BAD_DATA_SIZE
        if data is None:
            return None
        row.is_data_sized = True
        row.data_hash = _string(metadata["dataHash"])
        try:
            text = canonical_bytes(data)
        except NoCanonicalFormError:
            return None
        row.data_digest = sha512(text).digest()[:_HASH_BYTES]
        row.is_unsized = len(text) != size
        return None

    def _judge_data(self, rows: list[_Row]) -> list[bool | None]:
        hashes = base58.decode([row.data_hash for row in rows], _HASH_BYTES)
        verdicts: list[bool | None] = []
        for row, claimed in zip(rows, hashes, strict=True):
            if not row.is_data_sized:
                verdicts.append(None)
                continue
            is_hash_right = claimed is not None and claimed == row.data_digest
            verdicts.append(is_hash_right and not row.is_unsized)
            # Whatever has been found so far comes later in the peer's order.
            if not is_hash_right:
                row.reason = Reason.DATA_HASH_MISMATCH
            elif row.is_unsized:
                row.reason = Reason.DATA_SIZE_MISMATCH
        return verdicts

    def _verify(self, rows: list[_Row]) -> list[bool | None]:
        """Verify signatures, or remember what came of them before; None where none is due."""
        due = [row.reason is None and not row.is_moot for row in rows]
        signatures = base58.decode(
            [row.sig if is_due else None for row, is_due in zip(rows, due, strict=True)], _SIGNATURE_BYTES
        )
        if len(self._verdicts) >= self._GENERATION:
            self._older_verdicts = self._verdicts
            self._verdicts = {}
        verdicts: list[bool | None] = []
        for row, is_due, signature in zip(rows, due, signatures, strict=True):
            if not is_due:
                verdicts.append(None)
                continue
            verdict: bool | None = False
            if signature is not None:
                claim = (row.digest, row.sigkey, row.sig)
                verdict = self._verdicts.get(claim)
                if verdict is None:
                    verdict = self._older_verdicts.get(claim)
                    if verdict is None:
                        verdict = _is_signed(self._keys.get(row.sigkey), signature, row)
                    self._verdicts[claim] = verdict
            if not verdict:
                row.reason = Reason.BAD_SIGNATURE
            verdicts.append(verdict)
        return verdicts


def _is_signed(key: bytes | None, signature: bytes, row: _Row) -> bool:
    if key is None:  # forgotten since the line was read
        [key] = base58.decode([row.sigkey], _SIGKEY_BYTES)
    try:
        crypto_sign_open(signature + _SIGNED_TAG + row.text, key)
    except BadSignatureError:
        return False
    return True


def _key_change(data: Any) -> tuple[str, str, bool, bool, bool] | None:
    """What an account message does to an ed25519 key: action, key, whether it signs messages, may add, may delete."""
    key = data.get("key") if type(data) is dict else None
    if type(key) is not dict or key.get("algorithm") != _SIGNING_ALGORITHM:
        return None
    action, bytes_text, powers = data.get("action"), key.get("bytes"), data.get("powers")
    if action not in ("add", "del") or type(bytes_text) is not str:
        return None
    powers = powers if action == "add" and type(powers) is list else []
    return action, bytes_text, key.get("purpose") in _SIGNING_PURPOSES, "add" in powers, "del" in powers


def _is_truthy(value: Any) -> bool:
    """Whether JavaScript takes a parsed value for true: empty objects and arrays too."""
    return bool(value) or type(value) is dict or type(value) is list


def _string(value: Any) -> str | None:
    return value if type(value) is str else None


def _strings(values: Any) -> list[str] | None:
    if type(values) is not list:
        return None
    return [value for value in values if type(value) is str]


def _storable(row: _Row) -> _Row:
    """Replace lone surrogates, for which Arrow has no form. Only what is refused, or trusted, can have them."""
    for name in ("claimed_id", "account", "domain", "sigkey", "sig", "data_hash"):
        value = getattr(row, name)
        if value is not None:
            setattr(row, name, replace_surrogates(value))
    for name in ("account_tips", "supersedes"):
        values = getattr(row, name)
        if values is not None:
            setattr(row, name, list(map(replace_surrogates, values)))
    # Names that differed only in those are one name now: the first stays.
    tangles: dict[str, tuple[Any, ...]] = {}
    for root, depth, prev, defect in row.tangles:
        root = replace_surrogates(root)
        tangles.setdefault(root, (root, depth, list(map(replace_surrogates, prev)), defect))
    row.tangles = list(tangles.values())
    if row.key is not None:
        row.key = (row.key[0], replace_surrogates(row.key[1]), *row.key[2:])
    return row


def _column(rows: list[_Row], name: str) -> pa.StringArray:
    return pa.array([getattr(row, name) for row in rows], pa.string())


def _key_columns(keys: list[tuple[Any, ...] | None]) -> list[pa.Array]:
    kinds = (pa.string(), pa.string(), pa.bool_(), pa.bool_(), pa.bool_())
    if not any(keys):
        return [pa.nulls(len(keys), kind) for kind in kinds]
    return [pa.array([key and key[at] for key in keys], kind) for at, kind in enumerate(kinds)]
