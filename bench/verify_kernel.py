"""The kernels that verify signed logs, and the signatures of the same messages for a bare loop of libsodium."""

import gzip
from binascii import a2b_base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import orjson
import pyarrow as pa

from dbt_tangles.formats.pzp import base58
from dbt_tangles.formats.pzp import verify_lines as pzp_check
from dbt_tangles.formats.pzp.canonical import canonical_bytes
from dbt_tangles.formats.ssb import verify_lines as ssb_check
from dbt_tangles.formats.ssb.canonical import canonical_text
from dbt_tangles.formats.ssb.classic import Reason, check_form
from dbt_tangles.formats.ssb.shapes import unwrap
from dbt_tangles.formats.ssb.signature import public_key
from dbt_tangles.ingest.line_checks import INPUT_SCHEMA


def read_lines(path: Path, limit: int | None) -> list[bytes]:
    """Read the lines of a log, without line ends."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as log:
        lines = log.read().split(b"\n")
    return [line for line in lines if line][:limit]


def to_batches(lines: list[bytes], rows: int) -> list[pa.RecordBatch]:
    """Cut lines into record batches, in the form that the kernels take."""
    batches = []
    for start in range(0, len(lines), rows):
        part = lines[start : start + rows]
        columns = [
            pa.array(["log"] * len(part)),
            pa.array(range(start + 1, start + 1 + len(part)), pa.int64()),
            pa.array(part, pa.binary()),
            pa.array([len(line) for line in part], pa.int64()),
        ]
        batches.append(pa.RecordBatch.from_arrays(columns, schema=INPUT_SCHEMA))
    return batches


def check_ssb(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Verify the lines of an SSB log."""
    return ssb_check.verify_batches(batches, ssb_check.VerifyOptions())


def check_pzp(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Verify the lines of a pzp log."""
    return pzp_check.verify_batches(batches, pzp_check.VerifyOptions())


def ssb_signatures(lines: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield signature with signed text, and public key, of each distinct message that reaches the signature check."""
    seen = set()
    for line in lines:
        try:
            exported = unwrap(orjson.loads(line))
        except orjson.JSONDecodeError:
            continue
        if type(exported) is not tuple or type(check_form(exported[1])) is Reason:
            continue
        value = exported[1]
        signature = a2b_base64(value["signature"][:88])
        if (value["author"], signature) not in seen:
            seen.add((value["author"], signature))
            unsigned = {name: field for name, field in value.items() if name != "signature"}
            yield signature + canonical_text(unsigned).encode(), public_key(value["author"])


def pzp_signatures(lines: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the same for a pzp log."""
    seen = set()
    reached = pa.concat_arrays([batch["is_signature_valid"] for batch in check_pzp(iter(to_batches(lines, 10_000)))])
    for line, verdict in zip(lines, reached.to_pylist(), strict=True):
        if verdict is not None:
            document = orjson.loads(line)
            message = document.get("msg", document)
            text = canonical_bytes(message["metadata"])
            if (claim := (text, message["sigkey"], message["sig"])) not in seen:
                seen.add(claim)
                [signature] = base58.decode([message["sig"]], 64)
                [key] = base58.decode([message["sigkey"]], 32)
                yield (signature or bytes(64)) + b":msg-v4:" + text, key


class Kind(NamedTuple):
    """A kind of log.

    Attributes:
        check: Its kernel.
        signatures: Its signatures, as in `ssb_signatures`.
    """

    check: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    signatures: Callable[[list[bytes]], Iterator[tuple[bytes, bytes]]]


KINDS = {"ssb": Kind(check_ssb, ssb_signatures), "pzp": Kind(check_pzp, pzp_signatures)}
