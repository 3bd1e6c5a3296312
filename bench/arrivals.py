"""Commands per arrival of a log in the shape of a real peer's, by receive time.

dbt builds the tables, with one script for each arrival. `timeline_edits` gives the counts, of the whole log and of the
tangles by size, which depend only on the log. The cost of the build is reported as well.
"""

from argparse import Namespace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.dataset as ds

from bench import builds, logs
from bench.evaluation import DOCS, fill
from bench.page_text import markdown
from bench.report import RESULTS, Goal, at_most

NAME = "arrivals"
TABLES = ("timeline_events", "timeline_edits")
WHOLE_LOG = "ssb:log"
#: The lower bounds of the size classes of tangles, in members.
SIZES = (2, 5, 20, 100, 1_000)
MINUTES, MEMORY_MIB = 10, 8 * 1024


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Build the timelines of the log and count; at full scale, write the table into `docs/evaluation`."""
    log = logs.head(options.peer_log or logs.signed_log(suffix=".jsonl.gz"), options.scale)
    variables = {"verify_signatures": False, "edit_batch_size": 1}
    built = builds.build(NAME, log, variables, ("run", "--select", *(f"+{table}" for table in TABLES)))
    rows = count(RESULTS / builds.NAME / NAME / "warehouse" / "tangles.db")
    if options.scale == 1 and options.peer_log is None:
        readme = DOCS / "README.md"
        readme.write_text(fill(readme.read_text(), NAME, shown(rows)))
    judged = options.scale == 1
    goals = [
        at_most("minutes until the timelines are there", MINUTES, round(built["wall_s"] / 60, 1), judged),
        at_most("MiB of the JVM", MEMORY_MIB, built["peak_mib"]["jvm"], judged),
    ]
    return [{"build": built}, *rows], goals


def count(warehouse: Path) -> list[dict]:
    """Count the commands of each arrival, of the whole log and of the tangles by size."""
    read = {name: ds.dataset(warehouse / name, format="parquet") for name in TABLES}
    events = read["timeline_events"].to_table(columns=["timeline_id"])["timeline_id"].value_counts()
    edits = read["timeline_edits"].to_table(columns=["timeline_id", "batch"])
    arrivals = edits.group_by(["timeline_id", "batch"]).aggregate([([], "count_all")])
    name, size = events.field("values"), events.field("counts")
    found = pc.index_in(arrivals["timeline_id"], value_set=name).to_numpy()
    commands, size = arrivals["count_all"].to_numpy(), size.to_numpy()
    is_log = pc.equal(name, WHOLE_LOG).to_numpy(zero_copy_only=False)
    bounds = np.append(SIZES, np.iinfo(np.int64).max)
    rows = [spread("the whole log", is_log, size, found, commands)]
    for least, above in pairwise(bounds):
        of_size = ~is_log & (size >= least) & (size < above)
        last = f" to {above - 1:,}" if above < bounds[-1] else " or more"
        rows.append(spread(f"tangles of {least:,}{last}", of_size, size, found, commands))
    return [row for row in rows if row["timelines"]]


def spread(title: str, chosen: np.ndarray, size: np.ndarray, timeline: np.ndarray, commands: np.ndarray) -> dict:
    """Sum up the arrivals of some timelines.

    Args:
        title: The name of these timelines.
        chosen: bool[timelines], the timelines to sum up.
        size: int64[timelines], their events.
        timeline: int32[arrivals].
        commands: int64[arrivals].
    """
    its = commands[chosen[timeline]]
    at = np.percentile(its, (50, 95, 99), method="inverted_cdf") if len(its) else np.zeros(3)
    return {
        "timelines": int(chosen.sum()),
        "of": title,
        "events": int(size[chosen].sum()),
        "per_event": round(int(its.sum()) / max(int(size[chosen].sum()), 1), 4),
        "appended": round(float((its == 1).mean()), 4) if len(its) else None,
        **{name: int(value) for name, value in zip(("p50", "p95", "p99"), at, strict=True)},
        "max": int(its.max(initial=0)),
    }


def shown(rows: list[dict]) -> list[str]:
    """Lay out the table for reading."""
    head = ["timelines", "", "events", "per event", "arrivals of one command", "p50", "p95", "p99", "max"]
    lines = [
        [
            f"{row['timelines']:,}",
            row["of"],
            f"{row['events']:,}",
            f"{row['per_event']:.3f}",
            f"{100 * row['appended']:.2f} %",
            *(f"{row[name]:,}" for name in ("p50", "p95", "p99", "max")),
        ]
        for row in rows
    ]
    return markdown(head, lines)
