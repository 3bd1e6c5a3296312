"""Verification of signed logs: the models `stg_ssb__lines` and `stg_pzp__lines` in Spark, beside libsodium alone.

In turns over the same log:

spark      the model, written as dbt writes it: reading, shuffle, parsing, hashing, verifying, writing.
libsodium  a bare loop over the same messages' signatures and signed bytes, prepared beforehand.

A log holds every message once, because copies are not verified again. It is not compressed, so that Spark can read it
in parts.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from nacl.bindings import crypto_sign_open

from bench import logs, model_runner, session
from bench.cpu import Watch
from bench.in_spark import WARM_UPS
from bench.report import Goal, at_least, say, summary
from bench.turns import seconds_of
from bench.verify_kernel import KINDS, read_lines, to_batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "verify"
MESSAGES = 100_000
GOAL = 8_000  # messages per CPU second in Spark
AIM = {"spark": 10_000, "sail": 14_000}
#: The condition for a row with a verified signature. A pzp set's root is usable without verification.
IS_VERIFIED = {"ssb": "is_usable", "pzp": "is_usable and is_signature_valid"}


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Measure the kinds of logs; return the figures and the goals."""
    count = max(round(MESSAGES * options.scale), 1)
    given = {"ssb": options.log, "pzp": options.pzp_log}
    paths = {kind: given[kind] or logs.MAKERS[kind](count) for kind in options.kinds or KINDS}
    spark = session.start(NAME, options.engine)
    results, goals = [], []
    with Watch() as watch:
        for kind, path in paths.items():
            result = measure(kind, path, options.repeats, spark, watch)
            results.append(result)
            rate, judged = result["spark_messages_per_cpu_s"], options.scale == 1
            goals.append(at_least(f"{kind}: messages per CPU second in Spark", GOAL, rate, judged))
            goals.append(at_least(f"{kind}: messages per CPU second in Spark, aim", AIM[options.engine], rate, judged))
    spark.stop()
    return results, goals


def measure(kind: str, log: Path, repeats: int, spark: SparkSession, watch: Watch) -> dict:
    """Measure the model, the kernel and libsodium in turns over a log; return the figures."""
    lines = read_lines(log, None)
    say(f"verify {kind}: {len(lines)} lines; preparing their signed bytes for libsodium")
    check, signatures = KINDS[kind]
    signed = list(signatures(lines))
    batches = to_batches(lines, session.batch_rows())

    def in_spark() -> None:
        variables = {f"{kind}_log": str(log.resolve())}
        session.write(model_runner.run(f"stg_{kind}__lines", spark, {}, **variables), "lines")

    def libsodium() -> None:
        for message, key in signed:
            crypto_sign_open(message, key)

    def kernel() -> None:
        for _ in check(iter(batches)):
            pass

    for _ in range(WARM_UPS):
        in_spark()
    kernel()
    counted = spark.sql(f"select count(*), count_if({IS_VERIFIED[kind]}) from {session.SCHEMA}.lines")
    checked, verified = counted.first()
    if (checked, verified) != (len(lines), len(signed)):
        raise RuntimeError(
            f"of {len(lines)} lines, {verified} of {checked} rows are usable and verified; {len(signed)} are signed"
        )
    runs, alone, kernels = [], [], []
    for number in range(1, repeats + 1):
        with watch.measure() as spent:
            in_spark()
        runs.append(spent)
        alone.append(seconds_of(libsodium))
        kernels.append(seconds_of(kernel))
        say(
            f"verify {kind}: round {number} of {repeats}: CPU seconds {spent.total:.1f}, of which "
            f"JVM {spent.cpu['jvm']:.1f}, workers {spent.cpu['workers']:.1f}; "
            f"kernel alone {kernels[-1]:.1f}, libsodium alone {alone[-1]:.1f}"
        )
    told = figures(log, len(lines), len(signed), summary(runs), median(kernels), median(alone))
    return {"kind": kind, **told}


def figures(log: Path, lines: int, signatures: int, spark: dict, kernel_s: float, libsodium_s: float) -> dict:
    """Bring the figures of a log into one form."""
    processes = spark["cpu_s_by_process"]
    return {
        "log": log.name,
        "lines": lines,
        "signatures": signatures,
        "ratio_to_libsodium": round(spark["cpu_s"] / libsodium_s, 2),
        "spark_messages_per_cpu_s": round(lines / spark["cpu_s"]),
        "kernel_messages_per_cpu_s": round(lines / kernel_s),
        "libsodium_messages_per_cpu_s": round(signatures / libsodium_s),
        "share_of_jvm": round(processes["jvm"] / spark["cpu_s"], 3),
        "share_of_workers": round(processes["workers"] / spark["cpu_s"], 3),
        "share_of_kernel": round(kernel_s / spark["cpu_s"], 3),
        "share_of_libsodium": round(libsodium_s / spark["cpu_s"], 3),
        "spark": spark,
        "kernel_alone_cpu_s": round(kernel_s, 2),
        "libsodium_alone_cpu_s": round(libsodium_s, 2),
    }
