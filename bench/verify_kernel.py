"""Speed of the kernels that check signed logs next to libsodium alone.

Usage: python bench/verify_kernel.py LOG [--kind ssb|pzp] [--lines N] [--runs N] [--batch-rows N]

LOG is an SSB or pzp log, one message a line (`.gz` included). Prints messages per CPU second for the kernel, which
parses, checks, hashes, verifies and writes Arrow columns, and for libsodium verifying the same signatures on bytes
prepared beforehand; the runs alternate, so that both see the same machine. The last line is the ratio of the medians.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from binascii import a2b_base64
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import orjson
import pyarrow as pa
from nacl.bindings import crypto_sign_open
from nacl.exceptions import BadSignatureError

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

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
    """Read the lines of a log, without their ends."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as log:
        lines = log.read().split(b"\n")
    return [line for line in lines if line][:limit]


def to_batches(lines: list[bytes], rows: int) -> list[pa.RecordBatch]:
    """Cut lines into record batches as a caller of the kernel would hand them over."""
    batches = []
    for start in range(0, len(lines), rows):
        part = lines[start : start + rows]
        columns = [
            pa.array(["log"] * len(part)),
            pa.array([0] * len(part), pa.int64()),
            pa.array(range(start, start + len(part)), pa.int64()),
            pa.array(part, pa.binary()),
            pa.array([len(line) for line in part], pa.int64()),
        ]
        batches.append(pa.RecordBatch.from_arrays(columns, schema=INPUT_SCHEMA))
    return batches


def check_ssb(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Check the lines of an SSB log."""
    return ssb_check.check_batches(batches, ssb_check.CheckOptions())


def check_pzp(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Check the lines of a pzp log."""
    return pzp_check.check_batches(batches, pzp_check.CheckOptions())


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
    """Yield the same of a pzp log."""
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
    """What a log may be of.

    Attributes:
        check: Its kernel.
        signatures: See `ssb_signatures`.
    """

    check: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    signatures: Callable[[list[bytes]], Iterator[tuple[bytes, bytes]]]


KINDS = {"ssb": Kind(check_ssb, ssb_signatures), "pzp": Kind(check_pzp, pzp_signatures)}


def cpu_rate(count: int, work: Callable[[], None]) -> float:
    """Do the work once; messages per second of this process's CPU time."""
    start = time.process_time()
    work()
    return count / (time.process_time() - start)


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log", type=Path)
    parser.add_argument("--kind", choices=KINDS, default="ssb")
    parser.add_argument("--lines", type=int, default=30_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--batch-rows", type=int, default=10_000)
    arguments = parser.parse_args()

    lines = read_lines(arguments.log, arguments.lines)
    batches = to_batches(lines, arguments.batch_rows)
    kind = KINDS[arguments.kind]
    signed = list(kind.signatures(lines))
    print(f"{len(lines)} lines, {sum(map(len, lines)) // len(lines)} bytes each; {len(signed)} signatures")

    def kernel() -> None:
        for _ in kind.check(iter(batches)):
            pass

    def libsodium() -> None:
        for message, key in signed:
            try:  # noqa: SIM105  suppress() would slow this side down
                crypto_sign_open(message, key)
            except BadSignatureError:
                pass

    rates: dict[str, list[float]] = {"kernel": [], "libsodium": []}
    for _ in range(arguments.runs):
        rates["kernel"].append(cpu_rate(len(lines), kernel))
        rates["libsodium"].append(cpu_rate(len(signed), libsodium))
    for name, measured in rates.items():
        runs = " ".join(f"{rate:.0f}" for rate in measured)
        print(f"{name}: median {median(measured):.0f} messages per CPU second ({runs})")
    print(f"ratio kernel / libsodium: {median(rates['kernel']) / median(rates['libsodium']):.3f}")


if __name__ == "__main__":
    main()
