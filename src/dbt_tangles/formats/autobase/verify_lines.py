"""Verifies the lines of an Autobase log: one row per line (Autobase Design, "Linearisation" and "Writer Roles").

A line is a JSON object that names its `base`, and is of one of two kinds: a node (`writer`, `length`, `heads`,
optionally `batch` and `value`) or, without the first three fields, a base (`indexers`, optionally `relayed` and
`start`). Other fields are ignored, and a null field counts as missing. Any line is allowed: an unusable line becomes a
row with a reason.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn

import numpy as np
import orjson
import pyarrow as pa

from dbt_tangles.formats.json_line import LineError, LineReasons, parse_object, parse_with_types, read_turn
from dbt_tangles.formats.ssb.canonical import number_text, print_text
from dbt_tangles.ingest.json_numbers import MAX_INT32, whole_number
from dbt_tangles.ingest.line_checks import MAX_LINE_BYTES, check_in_turns, schema_of
from dbt_tangles.kernel_runtime.row_schema import Int32, arrow_type
from dbt_tangles.reasons import AutobaseReason as Reason
from dbt_tangles.reasons import Reasons

BASE, NODE = "base", "node"

# Lines per turn: few enough for their objects to stay in the processor's caches, and for one invalid line to delay few
# valid ones.
_TURN_ROWS = 256

_WRITER = re.compile("[0-9A-Fa-f]{64}")
_SURROGATE = re.compile("[\ud800-\udfff]")
# A number that orjson may print in another way than JavaScript, or a part of a string that looks like one.
_ODD_NUMBER = re.compile(rb"\.0|[0-9]e|[0-9]{16}")

_NODE_FIELDS = ("writer", "length", "heads")
_needed_of = itemgetter("base", *_NODE_FIELDS)

_SORTED = orjson.OPT_SORT_KEYS


_LINE_REASONS = LineReasons(Reason.TOO_LONG, Reason.INVALID_UTF8, Reason.MALFORMED_JSON, Reason.NOT_AN_OBJECT)


class Length(NamedTuple):
    """A writer, and a length of its log."""

    writer: str
    length: Int32


@dataclass(slots=True)
class Row:
    """The result of a line; see `verify_batches`."""

    base_id: str | None = None
    kind: str | None = None
    indexers: list[str] | None = None
    relayed: list[str] | None = None
    start: list[Length] | None = None
    writer: str | None = None
    length: Int32 | None = None
    heads: list[Length] | None = None
    batch: Int32 | None = None
    value: str | None = None
    is_ack: bool | None = None
    reject_reason: Reasons | None = None
    detail: str | None = None


OUTPUT_SCHEMA = schema_of(Row)


def verify_batches(batches: Iterator[pa.RecordBatch], max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[pa.RecordBatch]:
    """Verify the lines of an Autobase log.

    Args:
        batches: Record batches with the columns of `INPUT_SCHEMA`, in any order.
        max_line_bytes: Longer lines are rejected unread.

    Returns:
        Record batches of `OUTPUT_SCHEMA`: one row for each input row, in the same order. A very large batch is split.
        Writers are in lower case. The columns:
            `kind`: `base`, `node`, or null if the line is neither;
            `indexers`, `relayed`: of a base, distinct and sorted; `relayed` defaults to empty;
            `start`: of a base, one entry for each writer, sorted, lengths of 0 included; null if missing;
            `heads`: of a node, sorted, at most one for each writer, without the writer's own previous node;
            `batch`: of a node, 1 if missing;
            `value`: of a node, its JSON with sorted keys and without white space, so that equal values have equal
            texts. Numbers are doubles, printed as JavaScript prints them: 1, 1.0 and 1e0 are 1. Those beyond the
            doubles are 1e999 and -1e999. Null for an ack (`is_ack`);
            `reject_reason`, `detail`: null for a usable line. A rejected line has at most `base_id`, `kind`, `writer`
            and `length`.
    """

    def verify(lines: pa.Array, lengths: pa.Array) -> Mapping[str, pa.Array | Sequence[Any]]:
        return read_turn(lines, lengths, max_line_bytes, _read_node_columns, _read, Row)

    return check_in_turns(batches, verify, _TURN_ROWS, OUTPUT_SCHEMA)


class _Nodes(NamedTuple):
    """The fields of some lines that are all nodes, one column each; heads are flat."""

    bases: Sequence[str]  # The id of each node's base
    writers: Sequence[str]  # Each node's writer, as spelled
    lengths: Sequence[int]  # Each node's length
    batches: Sequence[int]  # Each node's batch
    head_counts: np.ndarray  # int64[nodes], the number of heads of each node
    head_writers: Sequence[str]  # The writers of all heads, as spelled
    head_lengths: Sequence[int]  # The lengths of all heads
    values: Sequence[str | None]  # Each node's value as JSON text, or null


def _read_node_columns(raws: list[bytes | None]) -> dict[str, pa.Array] | None:
    """Read lines if all are valid nodes, checking each column as a whole; give up at the first other line.

    The result equals that of `_read`, in a fraction of the time.
    """
    nodes = _parse_nodes(raws)
    if nodes is None:
        return None
    spellings = {*nodes.writers, *nodes.head_writers}
    if not all(map(_WRITER.fullmatch, spellings)):
        return None
    # From here on a writer is its index among the sorted names.
    names = sorted(set(map(str.lower, spellings)))
    places = {name: place for place, name in enumerate(names)}
    place_of = {spelling: places[spelling.lower()] for spelling in spellings}.__getitem__
    count = len(raws)
    own = np.fromiter(map(place_of, nodes.writers), np.int32, count)
    own_length = np.array(nodes.lengths, np.int32)
    head = np.fromiter(map(place_of, nodes.head_writers), np.int32, len(nodes.head_writers))
    heads = _sorted_heads(nodes, own, own_length, head, len(names))
    if heads is None:
        return None
    node, head, head_length = heads
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(node, minlength=count), out=offsets[1:])
    names_array = pa.array(names, pa.string())
    structs = pa.StructArray.from_arrays(
        [names_array.take(pa.array(head)), pa.array(head_length)], fields=list(arrow_type(Length))
    )
    value_array = pa.array(nodes.values, pa.string())
    return {
        "base_id": pa.array(nodes.bases, pa.string()),
        "kind": pa.repeat(NODE, count),
        "writer": names_array.take(pa.array(own)),
        "length": pa.array(own_length),
        "heads": pa.ListArray.from_arrays(pa.array(offsets), structs),
        "batch": pa.array(nodes.batches, pa.int32()),
        "value": value_array,
        "is_ack": value_array.is_null(),
    }


def _parse_nodes(raws: list[bytes | None]) -> _Nodes | None:
    """Parse lines and check the types of all fields; give up at the first line that is not a node."""
    try:
        documents = list(map(orjson.loads, raws))
        bases, writers, lengths, heads = zip(*map(_needed_of, documents), strict=True)
        values = [document.get("value") for document in documents]
        texts = [None if value is None else _text_of(value) for value in values]
        if not _are(heads, list):
            return None
        flat = list(chain.from_iterable(heads))
        if not _are(flat, list) or not {2}.issuperset(map(len, flat)):
            return None
    except (ValueError, LookupError, TypeError):  # not JSON, a field missing, not an object
        return None
    batches = [document.get("batch", 1) for document in documents]
    head_writers, head_lengths = zip(*flat, strict=True) if flat else ((), ())
    are_strings = _are(bases, str) and all(bases) and _are(writers, str) and _are(head_writers, str)
    if not are_strings or not all(map(_are_lengths, (lengths, head_lengths, batches))):
        return None
    counts = np.fromiter(map(len, heads), np.int64, len(raws))
    return _Nodes(bases, writers, lengths, batches, counts, head_writers, head_lengths, texts)


def _sorted_heads(
    nodes: _Nodes, own: np.ndarray, own_length: np.ndarray, head: np.ndarray, writer_count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Sort the heads of each node by writer, and drop the writer's own previous node; give up at an invalid head.

    Args:
        nodes: The nodes.
        own: int32[nodes], the writer of each node.
        own_length: int32[nodes].
        head: int32[heads], the writer of each head.
        writer_count: The number of writers.

    Returns:
        int64[heads], the node of each head; int32[heads], its writer; int32[heads], its length.
    """
    node = np.repeat(np.arange(len(own)), nodes.head_counts)
    head_length = np.array(nodes.head_lengths, np.int32)
    if not len(head):
        return node, head, head_length
    key = node * writer_count + head
    order = np.argsort(key, kind="stable")
    if (np.diff(key[order]) == 0).any():
        return None
    head, head_length = head[order], head_length[order]  # node is already in order
    is_own = head == own[node]
    ahead = own_length[node] - head_length
    if (ahead[is_own] < 1).any():
        return None
    is_kept = ~is_own | (ahead != 1)
    return node[is_kept], head[is_kept], head_length[is_kept]


def _are(values: Sequence[Any], kind: type) -> bool:
    return {kind}.issuperset(map(type, values))


def _are_lengths(values: Sequence[Any]) -> bool:
    return _are(values, int) and min(values, default=1) >= 1 and max(values, default=1) <= MAX_INT32


def _read(raw: bytes | None, raw_length: int | None, max_line_bytes: int) -> Row:
    """Read any line."""
    try:
        document, is_exact = parse_object(raw, raw_length, max_line_bytes, _LINE_REASONS, parse_with_types)
    except LineError as error:
        reason, detail = error.args
        return Row(reject_reason=reason, detail=detail)
    return _read_document(document, is_exact)


def _read_document(document: dict[str, Any], is_exact: bool) -> Row:
    base_id = document.get("base")
    if type(base_id) is not str or base_id == "" or _SURROGATE.search(base_id):
        base_id = None
    kind = writer = length = None
    if any(document.get(name) is not None for name in _NODE_FIELDS):
        kind = NODE
        writer, length = _writer_of(document.get("writer")), _length_of(document.get("length"))
    elif document.get("indexers") is not None:
        kind = BASE
    try:
        if base_id is None:
            _reject(Reason.NO_BASE, "no base" if document.get("base") is None else "base is not a non-empty string")
        if kind is None:
            _reject(Reason.NEITHER, "neither a base nor a node")
        if kind == BASE:
            indexers, relayed, start = _read_base(document)
            return Row(base_id=base_id, kind=kind, indexers=indexers, relayed=relayed, start=start)
        if writer is None:
            _reject(Reason.BAD_WRITER, _wrong(document, "writer", "64 hex digits"))
        if length is None:
            _reject(Reason.BAD_LENGTH, _wrong(document, "length", "a whole number from 1"))
        heads = _heads_of(document, writer, length)
        batch = document.get("batch")
        batch = 1 if batch is None else _length_of(batch)
        if batch is None:
            _reject(Reason.BAD_BATCH, "batch is not a whole number from 1")
    except LineError as error:
        reason, detail = error.args
        return Row(base_id=base_id, kind=kind, writer=writer, length=length, reject_reason=reason, detail=detail)
    value = document.get("value")
    return Row(
        base_id=base_id,
        kind=kind,
        writer=writer,
        length=length,
        heads=heads,
        batch=batch,
        value=None if value is None else _text_of(value, is_exact),
        is_ack=value is None,
    )


def _read_base(document: dict[str, Any]) -> tuple[list[str], list[str], list[Length] | None]:
    """Read indexers, relayed and start."""
    indexers = _writers_of(document["indexers"], "indexers", Reason.BAD_INDEXERS)
    relayed = document.get("relayed")
    relayed = [] if relayed is None else _writers_of(relayed, "relayed", Reason.BAD_RELAYED)
    if not set(indexers).isdisjoint(relayed):
        _reject(Reason.BAD_ROLES, "a writer is in both indexers and relayed")
    start = document.get("start")
    if start is None:
        return indexers, relayed, None
    if type(start) is not dict:
        _reject(Reason.BAD_START, "start is not an object")
    lengths = {_writer_of(name): _length_of(length, least=0) for name, length in start.items()}
    if None in lengths:
        _reject(Reason.BAD_START, "start names something other than 64 hex digits")
    if len(lengths) < len(start):
        _reject(Reason.BAD_START, "start has two lengths of one writer")
    if None in lengths.values():
        _reject(Reason.BAD_START, "a length in start is not a whole number from 0")
    return indexers, relayed, sorted(map(Length._make, lengths.items()))


def _writers_of(values: Any, name: str, reason: Reason) -> list[str]:
    if type(values) is not list:
        _reject(reason, f"{name} is not a list")
    writers = set(map(_writer_of, values))
    if None in writers:
        _reject(reason, f"an entry of {name} is not 64 hex digits")
    return sorted(writers)


def _heads_of(document: dict[str, Any], writer: str, length: int) -> list[Length]:
    values = document.get("heads")
    if type(values) is not list:
        _reject(Reason.BAD_HEADS, _wrong(document, "heads", "a list"))
    heads = []
    for pair in values:
        is_pair = type(pair) is list and len(pair) == 2
        name, head_length = (_writer_of(pair[0]), _length_of(pair[1])) if is_pair else (None, None)
        if name is None or head_length is None:
            _reject(Reason.BAD_HEADS, "a head is not a writer and a length")
        heads.append(Length(name, head_length))
    heads.sort()
    if any(before.writer == after.writer for before, after in pairwise(heads)):
        _reject(Reason.BAD_HEADS, "two heads are of one writer")
    if any(name == writer and head_length >= length for name, head_length in heads):
        _reject(Reason.BAD_HEADS, "a head is the node itself or a later one of its writer")
    previous = (writer, length - 1)  # the implicit previous node, which may be listed too
    return [head for head in heads if head != previous]


def _reject(reason: Reason, detail: str) -> NoReturn:
    raise LineError(reason, detail)


def _wrong(document: dict[str, Any], name: str, expected: str) -> str:
    return f"no {name}" if document.get(name) is None else f"{name} is not {expected}"


def _writer_of(value: Any) -> str | None:
    return value.lower() if type(value) is str and _WRITER.fullmatch(value) else None


def _length_of(value: Any, least: int = 1) -> int | None:
    return whole_number(value, least, MAX_INT32)


def _text_of(value: Any, is_exact: bool = False) -> str:
    """Print a value as JSON with sorted keys, and numbers as JavaScript does.

    Args:
        value: A parsed value of any depth.
        is_exact: Whether it comes from `parse_with_types`, so that it may have infinities, which orjson prints as null.
    """
    if not is_exact:
        try:
            text = orjson.dumps(value, option=_SORTED)
            if not _ODD_NUMBER.search(text):
                return text.decode()
        except TypeError:  # nested too deep
            pass
    return print_text(value, False, lambda found: sorted(found.items()), _number_text)


def _number_text(number: int | float) -> str:
    if type(number) is float and math.isinf(number):
        return "1e999" if number > 0 else "-1e999"
    return number_text(number)
