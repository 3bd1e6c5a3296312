"""Verification of a signed log: the model `stg_ssb__lines`, and libsodium alone over the same texts.

In turns over the same log:

model      reading, shuffle, parsing, hashing, verifying, and writing as dbt writes.
kernel     the same lines in this process, without an engine.
libsodium  a bare loop over the same messages' signatures and signed bytes, prepared beforehand.

A log holds every message once, because copies are not verified again. It is not compressed, so that Spark can read it
in parts.
"""

from __future__ import annotations

from argparse import Namespace
from binascii import a2b_base64
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import orjson
import pyarrow as pa
from nacl.bindings import crypto_sign_open

from bench import logs, model_runner, session
from bench.cpu import Watch
from bench.limit import WARM_UPS
from bench.report import Part, at_least, say, summary
from bench.turns import seconds_of
from dbt_tangles.formats.json.printing import canonical_text
from dbt_tangles.formats.ssb import verify_lines as ssb
from dbt_tangles.formats.ssb.shapes import unwrap
from dbt_tangles.formats.ssb.signature import public_key
from dbt_tangles.ingest.line_checks import INPUT_SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "verify"
MESSAGES = 100_000
GOAL = 8_000  # messages per CPU second of the model
AIM = {"spark": 10_000, "sail": 14_000}


def run(options: Namespace) -> Part:
    """Measure; return the figures and the goals."""
    log = options.log or logs.signed_log(max(round(MESSAGES * options.scale), 1))
    spark = session.start(NAME, options.engine)
    with Watch() as watch:
        found = measure(log, options.repeats, spark, watch)
    spark.stop()
    rate, judged = found["model_messages_per_cpu_s"], options.scale == 1
    goal = at_least("messages per CPU second of the model", GOAL, rate, judged)
    return [found], [
        goal,
        at_least("messages per CPU second of the model, aim", AIM[options.engine], rate, judged),
    ]


def to_batches(lines: list[bytes], rows: int) -> list[pa.RecordBatch]:
    """Cut lines into record batches, in the form that the kernel takes."""
    table = pa.table(
        {
            "source_file": pa.repeat("log", len(lines)),
            "line": pa.array(range(1, len(lines) + 1), pa.int64()),
            "raw": pa.array(lines, pa.binary()),
            "raw_length": pa.array(map(len, lines), pa.int64()),
        }
    )
    return table.rename_columns(INPUT_SCHEMA.names).cast(INPUT_SCHEMA).to_batches(rows)


def signatures(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Return signature with signed text, and public key, of each message of a log without damage."""
    values = (unwrap(orjson.loads(line))[1] for line in lines)
    return [
        (
            a2b_base64(value.pop("signature")[:88]) + canonical_text(value).encode(),
            public_key(value["author"]),
        )
        for value in values
    ]


def measure(log: Path, repeats: int, spark: SparkSession, watch: Watch) -> dict:
    """Measure the model, the kernel and libsodium in turns over a log; return the figures."""
    lines = log.read_bytes().splitlines()
    say(f"verify: {len(lines)} lines; preparing their signed bytes for libsodium")
    signed = signatures(lines)
    batches = to_batches(lines, session.batch_rows())

    def model() -> None:
        session.write(model_runner.run("stg_ssb__lines", spark, {}, ssb_log=str(log.resolve())), "lines")

    def libsodium() -> None:
        for message, key in signed:
            crypto_sign_open(message, key)

    def kernel() -> None:
        for _ in ssb.verify_batches(iter(batches), ssb.VerifyOptions()):
            pass

    for _ in range(WARM_UPS):
        model()
    kernel()
    usable = spark.sql(f"select count_if(is_usable) from {session.SCHEMA}.lines").first()[0]
    if usable != len(lines):
        raise RuntimeError(f"{log}: {usable} of {len(lines)} messages are usable; give a log without damage or copies")
    runs, alone, kernels = [], [], []
    for number in range(1, repeats + 1):
        with watch.measure() as spent:
            model()
        runs.append(spent)
        alone.append(seconds_of(libsodium))
        kernels.append(seconds_of(kernel))
        told = f"kernel alone {kernels[-1]:.1f}, libsodium alone {alone[-1]:.1f}"
        say(f"verify: round {number} of {repeats}: CPU seconds {spent.total:.1f}; {told}")
    found, count = summary(runs), len(lines)
    return {
        **{"log": log.name, "lines": count, "model": found},
        "ratio_to_libsodium": round(found["cpu_s"] / median(alone), 2),
        "model_messages_per_cpu_s": round(count / found["cpu_s"]),
        "kernel_messages_per_cpu_s": round(count / median(kernels)),
        "libsodium_messages_per_cpu_s": round(count / median(alone)),
    }
