"""Counts the commands of the shortest edit scripts for all tables of the evaluation.

It counts commands, not seconds, so a run gives the same figures on any machine. At full scale it writes the tables, CSV
files and plots of docs/evaluation, and fills in the marked places of its README; at a smaller scale it writes below
target/bench/evaluation. Counts are kept there, so an interrupted run continues.
"""

import csv
import inspect
import json
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from bench import events, machine, peer
from bench.evaluation import plots
from bench.evaluation.cases import Case, count_case, count_explorations, run_peer
from bench.evaluation.layout import lay_out
from bench.report import RESULTS, Goal, at_most, say
from dbt_tangles.kernel_runtime.code_cache import source_digest

NAME = "evaluation"
DOCS = machine.ROOT / "docs" / "evaluation"
K = 1024
SIZES = tuple(K * 2**n for n in range(5, 10))
FEEDS = tuple(2**n for n in range(2, 11))
#: The table of section 4: by size, commands per event for each number of feeds.
DOCUMENT = {
    32 * K: (2.5, 3.0, 3.6, 4.7, 7.1, 10.4, 13.1, 16.8, 21.5),
    64 * K: (3.8, 2.9, 5.7, 4.4, 7.0, 10.1, 13.2, 17.0, 22.0),
    128 * K: (1.7, 2.7, 3.7, 5.3, 6.6, 9.2, 13.9, 18.1, 24.8),
    256 * K: (2.6, 2.4, 3.5, 5.8, 6.9, 10.6, 14.6, 19.7, 24.5),
    512 * K: (1.6, 3.3, 2.9, 6.2, 7.3, 10.7, 15.0, 19.3, 26.0),
}
#: The cases for the peer, whose time grows with the square of the size.
PEER_FEEDS = {4 * K: FEEDS, 8 * K: FEEDS, 16 * K: FEEDS, 32 * K: FEEDS[:5]}
REPETITIONS = 10
FEW = (16, 64, 256)
REFERENCES = (1, 2, 4)
ACTIVE, LURKERS, LURKED_EVENTS = 32, 512, 256_000
BATCHES = (1, 10, 100, 1_000, 10_000)
BATCHED = {32 * K: FEW, 512 * K: FEW[:2]}
MAX_PREVIOUS = 2
LATE = (16, 256, 4_096)
EXPLORED = (2 * K, 8 * K)
PERCENTILES = (5, 50, 95)
Rows = list[dict[str, Any]]


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Evaluate; return the tables, and the goals they must meet."""
    folder = DOCS if options.scale == 1 else RESULTS / NAME / f"scale-{options.scale:g}"
    evaluation = Evaluation(options.scale, RESULTS / NAME)
    tables = evaluation.tables()
    write(tables, folder)
    return [{"table": name, "rows": rows} for name, rows in tables.items()], goals(tables)


def goals(tables: dict[str, Rows]) -> list[Goal]:
    """Return the goals, which hold for any figures."""
    ratios = [row["shortest"] / row["peer"] for row in tables["peer"] if row["peer"] is not None]
    differing = sum(row["orders_differ"] for row in tables["peer"])
    return [
        at_most("commands of the shortest scripts / the peer's, in the worst case", 1, round(max(ratios), 3)),
        at_most("cases in which the peer ends in another order", 0, differing),
    ]


class Evaluation:
    """Counts the commands of cases, each once."""

    def __init__(self, scale: float, folder: Path) -> None:
        """Prepare to evaluate at a fraction of the full size; the folder keeps the counts."""
        self.scale = scale
        self.repetitions = REPETITIONS if scale == 1 else 2
        self._path = (
            folder / f"counted-{sha256(inspect.getsource(events).encode()).hexdigest()[:16]}-{source_digest()}.jsonl"
        )
        self._known: dict[str, dict] = {}
        if self._path.exists():
            for line in self._path.read_text().splitlines():
                self._known.update(json.loads(line))

    def tables(self) -> dict[str, Rows]:
        """Make all tables."""
        return {
            "sizes": self.sizes(),
            "peer": self.peers(),
            "lurkers": self.lurkers(),
            "references": self.references(),
            "limit": self.limit(),
            "batches": self.batches(),
            "deliveries": self.deliveries(),
            "explorations": self.explorations(),
        }

    def size(self, full: int) -> int:
        """Scale a number of events to an even one."""
        return max(int(full * self.scale) // 2 * 2, 64)

    def count(self, case: Case) -> dict[str, Any]:
        """Count the commands of a case."""
        return self._once(case, "", lambda: count_case(case))

    def compare(self, case: Case) -> dict[str, Any]:
        """Count the peer's commands for a case, and compare the order it ends in."""
        return self._once(case, f"{peer.PACKAGE} {peer.known_version()} ", lambda: run_peer(case))

    def _once(self, case: Case, prefix: str, work: Any) -> dict[str, Any]:
        key = prefix + json.dumps(asdict(case))
        if key not in self._known:
            self._known[key] = work()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a") as kept:
                kept.write(json.dumps({key: self._known[key]}) + "\n")
            told = {name: value for name, value in asdict(case).items() if value != getattr(Case, name, None)}
            found = self._known[key]
            counts = f"{found['per_event']} commands per event" if "per_event" in found else found
            say(f"evaluation: {prefix}{told}: {counts}")
        return self._known[key]

    def spread(self, **parameters: Any) -> dict[str, Any]:
        """Count a case under several seeds; return its parameters, and percentiles over the runs."""
        runs = [self.count(Case(seed=seed, **parameters)) for seed in range(1, self.repetitions + 1)]
        return {**parameters, **sum_up_runs(runs)}

    def sizes(self) -> Rows:
        """The document's table, with the repetitions and percentiles that the document asks for."""
        rows = []
        for full in SIZES:
            for feeds, printed in zip(FEEDS, DOCUMENT[full], strict=True):
                rows.append({**self.spread(events=self.size(full), feeds=feeds), "document": printed})
        return rows

    def peers(self) -> Rows:
        """The peer beside the shortest scripts, on the same arrivals; some with more cross-references."""
        cases = [(full, feeds, 1) for full, some in PEER_FEEDS.items() for feeds in some]
        cases += [(min(PEER_FEEDS), feeds, references) for feeds in FEW for references in REFERENCES[1:]]
        rows = []
        for full, feeds, references in cases:
            case = Case(self.size(full), feeds, references=references)
            found, shortest = self.compare(case), self.count(case)["per_event"]
            theirs = found["per_event"]
            more = None if theirs is None else round(100 * (theirs / shortest - 1), 1)
            row = {"events": case.events, "feeds": feeds, "references": references, "peer": theirs}
            rows.append({**row, "shortest": shortest, "more_percent": more, "orders_differ": found["orders_differ"]})
        return rows

    def lurkers(self) -> Rows:
        """A few active feeds among many silent ones, and the active ones alone."""
        size = self.size(LURKED_EVENTS)
        silent = max(int(LURKERS * self.scale), 2)
        rows = []
        for lurkers, delivery, bound in (
            (silent, "by_feed", 0),
            (silent, "late", LATE[1]),
            (silent, "in_order", 0),
            (0, "by_feed", 0),
        ):
            parameters = {"events": size, "feeds": ACTIVE, "lurkers": lurkers, "delivery": delivery, "bound": bound}
            rows.append(self.spread(**parameters))
        return rows

    def references(self) -> Rows:
        """More than one cross-reference."""
        rows = []
        for feeds in FEW:
            for references in REFERENCES:
                parameters = {"events": self.size(32 * K), "feeds": feeds, "references": references}
                rows.append(self.spread(**parameters))
        return rows

    def limit(self) -> Rows:
        """A limit of two predecessors, with authors who know it and with authors who do not."""
        rows = []
        for feeds in FEW:
            for references, chatty in ((1, 1), (2, 1), (4, 1), (2, 8)):
                for limit in (0, MAX_PREVIOUS):
                    case = Case(self.size(32 * K), feeds, references=references, chatty=chatty, max_previous=limit)
                    found = self.count(case)
                    shown = ("refused", "accepted", "missing_causes", "with_missing_causes", "per_event")
                    row = {"events": case.events, "feeds": feeds, "references": references, "one_feed_in": chatty}
                    rows.append({**row, "max_previous": limit or None, **{name: found[name] for name in shown}})
        return rows

    def batches(self) -> Rows:
        """Scripts shared by several arrivals."""
        rows = []
        for full, some in BATCHED.items():
            for feeds in some:
                for batch in BATCHES:
                    case = Case(self.size(full), feeds, batch=batch)
                    per_event = self.count(case)["per_event"]
                    rows.append({"events": case.events, "feeds": feeds, "batch": batch, "per_event": per_event})
        return rows

    def explorations(self) -> Rows:
        """Ranks that change with an arrival, counted from the first events and from the tips (figure 4)."""
        rows = []
        for full in EXPLORED:
            for feeds in FEW:
                for delivery, bound in (("in_order", 0), ("late", LATE[1]), ("by_feed", 0)):
                    case = Case(self.size(full), feeds, delivery=delivery, bound=bound)
                    parameters = {"events": case.events, "feeds": feeds, "delivery": delivery, "bound": bound}
                    rows.append(
                        {**parameters, **self._once(case, "explored ", lambda case=case: count_explorations(case))}
                    )
        return rows

    def deliveries(self) -> Rows:
        """Deliveries with fewer late events than the document's."""
        rows = []
        for feeds in FEW:
            for delivery, bound in (("in_order", 0), *(("late", bound) for bound in LATE), ("by_feed", 0)):
                parameters = {"events": self.size(32 * K), "feeds": feeds, "delivery": delivery, "bound": bound}
                rows.append(self.spread(**parameters))
        return rows


def sum_up_runs(runs: Rows) -> dict[str, Any]:
    """Sum up repetitions: percentiles of commands per event, and per arrival the median and the maximum."""
    at = np.percentile([found["per_event"] for found in runs], PERCENTILES)
    return {
        "runs": len(runs),
        "p5_of_runs": round(float(at[0]), 3),
        "p50_of_runs": round(float(at[1]), 3),
        "p95_of_runs": round(float(at[2]), 3),
        **{f"arrival_{name}": int(np.median([found[name] for found in runs])) for name in ("p50", "p95", "p99")},
        "arrival_max": max(found["max"] for found in runs),
    }


def write(tables: dict[str, Rows], folder: Path) -> None:
    """Write CSV files and plots, and fill in the README."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            out.writeheader()
            out.writerows(rows)
    plots.draw(tables, folder)
    text = (DOCS / "README.md").read_text()
    for name, lines in lay_out(tables).items():
        text = fill(text, name, lines)
    (folder / "README.md").write_text(text)


def fill(text: str, name: str, lines: Sequence[str]) -> str:
    """Put a table between its marks.

    Raises:
        ValueError: The text does not contain the marks exactly once.
    """
    begin, end = f"<!-- table {name} -->\n", f"<!-- end {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the README needs the marks of the table {name} exactly once: {begin.strip()} and {end}")
    before, _, rest = text.partition(begin)
    return before + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.partition(end)[2]
