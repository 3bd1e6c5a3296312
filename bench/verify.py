"""Checking a signed log: the model `stg_ssb__lines` in Spark, next to libsodium alone.

In turns over the same log:

spark      the model, written as dbt writes it: reading, shuffle, parsing, hashing, verifying, writing.
libsodium  a bare loop over the same messages' signatures and signed bytes, prepared beforehand.

The log holds every message once, as a copy would not be verified again. It is not compressed, so that Spark can read
it in parts.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from statistics import median

from nacl.bindings import crypto_sign_open

from bench import logs, session, stand_in, verify_kernel
from bench.cpu import Watch
from bench.report import Goal, at_least, say, summary
from dbt_tangles.ssb.check import CheckOptions, check_batches

NAME = "verify"
MESSAGES = 100_000
GOAL = 8_000  # messages per CPU second in Spark
AIM = 10_000
WARM_UPS = 2  # Java compiles most of what it compiles in the first two rounds, at a third of their CPU seconds


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Measure both in turns; the figures, and the goals."""
    log = options.log or logs.signed_log(max(round(MESSAGES * options.scale), 1))
    spark = session.start(NAME)
    lines = verify_kernel.read_lines(log, None)
    say(f"verify: {len(lines)} lines; preparing their signed bytes for libsodium")
    signed = list(verify_kernel.signatures(lines))
    batches = verify_kernel.to_batches(lines, int(spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")))

    def in_spark() -> None:
        session.write(stand_in.run("stg_ssb__lines", spark, {}, ssb_log=str(log.resolve())), "lines")

    def libsodium() -> None:
        for message, key in signed:
            crypto_sign_open(message, key)

    def kernel() -> None:
        for _ in check_batches(iter(batches), CheckOptions()):
            pass

    with Watch() as watch:
        for _ in range(WARM_UPS):
            in_spark()
        kernel()
        checked, usable = spark.sql(f"select count(*), count_if(is_usable) from {session.SCHEMA}.lines").first()
        if (checked, usable) != (len(lines), len(signed)):
            raise RuntimeError(
                f"of {len(lines)} lines, {usable} of {checked} rows are usable; {len(signed)} are signed"
            )
        runs, alone, kernels = [], [], []
        for number in range(1, options.repeats + 1):
            with watch.measure() as spent:
                in_spark()
            runs.append(spent)
            alone.append(seconds_of(libsodium))
            kernels.append(seconds_of(kernel))
            say(
                f"verify: round {number} of {options.repeats}: CPU seconds {spent.total:.1f}, of which "
                f"JVM {spent.cpu['jvm']:.1f}, workers {spent.cpu['workers']:.1f}; "
                f"kernel alone {kernels[-1]:.1f}, libsodium alone {alone[-1]:.1f}"
            )
    spark.stop()
    result = figures(log, len(lines), len(signed), summary(runs), median(kernels), median(alone))
    rate, judged = result["spark_messages_per_cpu_s"], options.scale == 1
    goals = [
        at_least("messages per CPU second in Spark", GOAL, rate, judged),
        at_least("messages per CPU second in Spark, aim", AIM, rate, judged),
    ]
    return [result], goals


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


def seconds_of(work: Callable[[], None]) -> float:
    """CPU seconds of this process for a piece of work."""
    before = time.process_time()
    work()
    return time.process_time() - before
