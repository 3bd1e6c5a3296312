"""The evaluation of ScuttleSort's document (its section 4) and what it left to do, with the shortest edit scripts.

Counts commands, not seconds, so a run gives the same figures anywhere. At full scale it writes the tables, CSV files
and plots of docs/evaluation, and fills in what stands between the marks of its README; at a smaller scale it writes
the same below target/bench/evaluation. What was counted is kept there, so a run that was stopped goes on.
"""

from __future__ import annotations

import csv
import json
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench import events, exploration, machine, peer, plots
from bench.page_text import markdown
from bench.report import RESULTS, Goal, at_most, say
from dbt_tangles.algorithms.timeline import edits
from dbt_tangles.kernel_runtime.machine_code import stamp

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
#: Where the peer is run: its time grows with the square of the size.
PEER_FEEDS = {4 * K: FEEDS, 8 * K: FEEDS, 16 * K: FEEDS, 32 * K: FEEDS[:5]}
PEER_LIMIT_S = 60.0
REPETITIONS = 10
REPEATED = {32 * K: FEEDS, 128 * K: FEEDS}
FEW = (16, 64, 256)
REFERENCES = (1, 2, 4)
ACTIVE, LURKERS, LURKED_EVENTS = 32, 512, 256_000
BATCHES = (1, 10, 100, 1_000, 10_000)
BATCHED = {32 * K: FEW, 512 * K: FEW[:2]}
MAX_PREVIOUS = 2
MAX_SUCCESSORS = 3  # The next in the feed, and two that refer to it.
LATE = (16, 256, 4_096)
EXPLORED = (2 * K, 8 * K)
STRATEGIES = ("forward", "backward")
PERCENTILES = (5, 50, 95)
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A log, how it is delivered, and how its edit scripts are cut.

    Attributes:
        events: How many events are appended.
        feeds: How many feeds append all the time.
        seed: Of the random generator; the same events and feeds under one seed append in the same sequence.
        references: Tips of other feeds that an event lists.
        chatty: One feed in so many lists that many, the others one; 1: all feeds do.
        lurkers: Further feeds that hardly append.
        delivery: `by_feed`, `in_order`, or `late` with the bound.
        bound: How many later events may overtake one that is late.
        max_previous: Events that list more are refused; 0: none are.
        batch: Arrivals that share a script.
    """

    events: int
    feeds: int
    seed: int = 1
    references: int = 1
    chatty: int = 1
    lurkers: int = 0
    delivery: str = "by_feed"
    bound: int = 0
    max_previous: int = 0
    batch: int = 1


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Evaluate; the tables, and what must hold of them."""
    folder = DOCS if options.scale == 1 else RESULTS / NAME / f"scale-{options.scale:g}"
    evaluation = Evaluation(options.scale, RESULTS / NAME)
    tables = evaluation.tables()
    write(tables, folder)
    return [{"table": name, "rows": rows} for name, rows in tables.items()], goals(tables)


def goals(tables: dict[str, Rows]) -> list[Goal]:
    """State what must hold whatever the figures are."""
    ratios = [row["shortest"] / row["peer"] for row in tables["peer"] if row["peer"] is not None]
    differing = sum(row["orders_differ"] for row in tables["peer"])
    return [
        at_most("commands of the shortest scripts / the peer's, in the worst case", 1, round(max(ratios), 3)),
        at_most("cases in which the peer ends in another order", 0, differing),
    ]


class Evaluation:
    """Counts the commands of cases, each once."""

    def __init__(self, scale: float, folder: Path) -> None:
        """Evaluate at a fraction of the full size; what is counted is kept in a folder."""
        self.scale = scale
        self.repetitions = REPETITIONS if scale == 1 else 2
        self._path = folder / f"counted-{stamp(events.__name__)}-{stamp(edits.__name__)}.jsonl"
        self._known: dict[str, dict] = {}
        if self._path.exists():
            for line in self._path.read_text().splitlines():
                self._known.update(json.loads(line))

    def tables(self) -> dict[str, Rows]:
        """Make all tables."""
        return {
            "sizes": self.sizes(),
            "peer": self.peers(),
            "repetitions": self.repeated(),
            "lurkers": self.lurkers(),
            "references": self.references(),
            "limit": self.limit(),
            "batches": self.batches(),
            "deliveries": self.deliveries(),
            "explorations": self.explorations(),
            "successors": self.successors(),
        }

    def size(self, full: int) -> int:
        """Scale a number of events; even."""
        return max(int(full * self.scale) // 2 * 2, 64)

    def count(self, case: Case) -> dict[str, Any]:
        """Count the commands of a case."""
        return self._once(case, "", lambda: counted(case))

    def compare(self, case: Case) -> dict[str, Any]:
        """Count the peer's commands for a case, and look at the order it ends in."""
        return self._once(case, f"{peer.PACKAGE} {peer.known_version()} ", lambda: compared(case))

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

    def repeat(self, **parameters: Any) -> Rows:
        """Count a case under several seeds."""
        return [self.count(Case(seed=seed, **parameters)) for seed in range(1, self.repetitions + 1)]

    def sizes(self) -> Rows:
        """The document's table."""
        rows = []
        for full in SIZES:
            for feeds, printed in zip(FEEDS, DOCUMENT[full], strict=True):
                found = self.count(Case(self.size(full), feeds))
                rows.append({"events": self.size(full), "feeds": feeds, **found, "document": printed})
        return rows

    def peers(self) -> Rows:
        """The peer next to the shortest scripts, on the same arrivals; some with more cross-references."""
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

    def repeated(self) -> Rows:
        """Percentiles over repetitions."""
        rows = []
        for full, some in REPEATED.items():
            for feeds in some:
                runs = self.repeat(events=self.size(full), feeds=feeds)
                row = {"events": self.size(full), "feeds": feeds, **over(runs)}
                rows.append({**row, "document": DOCUMENT[full][FEEDS.index(feeds)]})
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
            rows.append({**parameters, **over(self.repeat(**parameters))})
        return rows

    def references(self) -> Rows:
        """More than one cross-reference."""
        rows = []
        for feeds in FEW:
            for references in REFERENCES:
                parameters = {"events": self.size(32 * K), "feeds": feeds, "references": references}
                rows.append({**parameters, **over(self.repeat(**parameters))})
        return rows

    def limit(self) -> Rows:
        """A limit of two predecessors, where authors know of it and where they do not."""
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
                    rows.append({**parameters, **self._once(case, "explored ", lambda case=case: explored(case))})
        return rows

    def successors(self) -> Rows:
        """How many events follow one at once, and what a limit of them does to replicas."""
        rows = []
        for feeds in FEW:
            for references in REFERENCES:
                case = Case(self.size(32 * K), feeds, references=references)
                found = self._once(case, "followed ", lambda case=case: followed(case))
                rows.append({"events": case.events, "feeds": feeds, "references": references, **found})
        return rows

    def deliveries(self) -> Rows:
        """Kinder deliveries than that of the document."""
        rows = []
        for feeds in FEW:
            for delivery, bound in (("in_order", 0), *(("late", bound) for bound in LATE), ("by_feed", 0)):
                parameters = {"events": self.size(32 * K), "feeds": feeds, "delivery": delivery, "bound": bound}
                rows.append({**parameters, **over(self.repeat(**parameters))})
        return rows


def appended(case: Case) -> tuple[events.Log, np.ndarray, np.random.Generator]:
    """Make the log of a case, and deliver it; with where further chance comes from."""
    rng = np.random.default_rng([case.seed, case.events, case.feeds, case.lurkers])
    feeds = case.feeds + case.lurkers
    references = np.where(np.arange(feeds) % case.chatty == 0, case.references, 1)
    log = events.append(case.events, case.feeds, rng, references, case.lurkers)
    if (np.bincount(log.rank) != 2).any():
        raise RuntimeError("a rank has not two events")
    if case.delivery == "by_feed":
        arrived = events.deliver_by_feed(log, rng)
    elif case.delivery == "late":
        arrived = events.deliver_late(log, case.bound, rng)
    else:
        arrived = events.deliver_in_order(log)
    return log, arrived, rng


def made(case: Case) -> tuple[events.Timelines, dict[str, int]]:
    """Make the timeline of a case; and count what is refused, and what is missing thereby."""
    log, arrived, rng = appended(case)
    listed = np.diff(log.start)
    refused = listed > case.max_previous if case.max_previous else np.zeros(len(listed), np.bool_)
    owner = np.repeat(np.arange(len(listed)), listed)
    missing = refused[log.cause] & ~refused[owner]
    facts = {
        "refused": int(refused.sum()),
        "accepted": int((~refused).sum()),
        "missing_causes": int(missing.sum()),
        "with_missing_causes": len(np.unique(owner[missing])),
    }
    return events.named(log, arrived[~refused[arrived]], rng), facts


def shortest(timelines: events.Timelines, batch: int = 1) -> np.ndarray:
    """Count the commands of each batch; int64[batches]."""
    number = np.arange(len(timelines.arrived)) // batch
    event_start, cause_start, cause, _, arrived = timelines
    commands = edits.edit_stream(event_start, cause_start, cause, arrived, number, np.zeros(1, np.int64))
    return np.bincount(commands.batch, minlength=number[-1] + 1 if len(number) else 0)


def counted(case: Case) -> dict[str, Any]:
    """Count the commands of a case."""
    timelines, facts = made(case)
    commands = shortest(timelines, case.batch)
    at = np.percentile(commands, (50, 95, 99), method="inverted_cdf") if len(commands) else np.zeros(3)
    return {
        "commands": int(commands.sum()),
        "per_event": round(int(commands.sum()) / max(facts["accepted"], 1), 3),
        "p50": int(at[0]),
        "p95": int(at[1]),
        "p99": int(at[2]),
        "max": int(commands.max(initial=0)),
        **facts,
    }


def explored(case: Case) -> dict[str, Any]:
    """Count the ranks that change with an arrival, by both strategies."""
    log, arrived, _ = appended(case)
    found = {}
    for name in STRATEGIES:
        counts = exploration.ranks_that_change(log.start, log.cause, arrived, name == "backward")
        found |= {name: round(float(counts.mean()), 2), f"{name}_max": int(counts.max())}
    return found


def followed(case: Case) -> dict[str, Any]:
    """Count successors; and what two replicas refuse that allow so many, one as appended and one by feeds."""
    log, arrived, _ = appended(case)
    counts = np.bincount(log.cause, minlength=len(log.feed))
    replicas = [
        exploration.within_limit(log.start, log.cause, order, MAX_SUCCESSORS)
        for order in (events.deliver_in_order(log), arrived)
    ]
    return {
        "p50": int(np.percentile(counts, 50, method="inverted_cdf")),
        "p99": int(np.percentile(counts, 99, method="inverted_cdf")),
        "max": int(counts.max()),
        "above": int((counts > MAX_SUCCESSORS).sum()),
        "refused_in_order": int((~replicas[0]).sum()),
        "refused_by_feed": int((~replicas[1]).sum()),
        "differ": int((replicas[0] != replicas[1]).sum()),
    }


def converged(timelines: events.Timelines) -> np.ndarray:
    """Order one timeline by rank, then name."""
    rank = np.zeros(len(timelines.cause_start) - 1, np.int64)
    while True:  # As many rounds as ranks at most; the peer's sizes are small.
        owner = np.repeat(np.arange(len(rank)), np.diff(timelines.cause_start))
        raised = np.zeros_like(rank)
        np.maximum.at(raised, owner, rank[timelines.cause] + 1)
        if (raised == rank).all():
            return np.lexsort((np.arange(len(rank)), rank))
        rank = raised


def compared(case: Case) -> dict[str, Any]:
    """Run the peer on a case, unless that takes too long."""
    timelines, _ = made(case)
    found = peer.run(timelines, case.seed, PEER_LIMIT_S)
    if found is None:
        return {"per_event": None, "orders_differ": 0}
    is_other = not np.array_equal(found.order, converged(timelines))
    return {"per_event": round(int(found.commands.sum()) / case.events, 3), "orders_differ": int(is_other)}


def over(runs: Rows) -> dict[str, Any]:
    """Sum up repetitions: percentiles of commands per event; of those per arrival the median, and the most."""
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
    for name, lines in shown(tables).items():
        text = fill(text, name, lines)
    (folder / "README.md").write_text(text)


def fill(text: str, name: str, lines: Sequence[str]) -> str:
    """Put a table between its marks.

    Raises:
        ValueError: The text does not have the marks once.
    """
    begin, end = f"<!-- table {name} -->\n", f"<!-- end {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the README has no one place for the table {name}")
    before, _, rest = text.partition(begin)
    return before + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.partition(end)[2]


def shown(tables: dict[str, Rows]) -> dict[str, list[str]]:
    """Lay the tables out for reading."""
    return {
        "sizes": by_feeds(tables["sizes"], ("per_event", "document"), ("shortest", "document")),
        "peer": by_feeds(
            [row for row in tables["peer"] if row["references"] == 1], ("peer", "shortest"), ("peer", "shortest")
        ),
        "repetitions": markdown(
            ["events", "feeds", "p5", "median", "p95", "document", "per arrival p50", "p95", "p99", "max"],
            [
                [thousands(row["events"]), row["feeds"], *percentiles(row), row["document"], *arrivals(row)]
                for row in tables["repetitions"]
            ],
        ),
        "lurkers": markdown(
            ["feeds", "delivery", "p5", "median", "p95", "per arrival p50", "p95", "p99", "max"],
            [
                [
                    f"{row['feeds']} + {row['lurkers']} silent" if row["lurkers"] else f"{row['feeds']} alone",
                    worded(row),
                    *percentiles(row),
                    *arrivals(row),
                ]
                for row in tables["lurkers"]
            ],
        ),
        "references": markdown(
            ["feeds", "cross-references", "p5", "median", "p95", "per arrival p50", "p95", "p99", "max"],
            [[row["feeds"], row["references"], *percentiles(row), *arrivals(row)] for row in tables["references"]],
        ),
        "limit": markdown(
            ["feeds", "cross-references", "limit", "refused", "missing causes", "events with any", "per event"],
            [
                [
                    row["feeds"],
                    said(row),
                    row["max_previous"] or "none",
                    f"{row['refused']:,}",
                    f"{row['missing_causes']:,}",
                    f"{row['with_missing_causes']:,}",
                    f"{row['per_event']:.2f}",
                ]
                for row in tables["limit"]
            ],
        ),
        "batches": markdown(
            ["events", "feeds", *(f"{batch:,}" for batch in BATCHES)],
            [
                [
                    thousands(rows[0]["events"]),
                    rows[0]["feeds"],
                    *(f"{row['per_event']:.3f}" for row in rows),
                ]
                for rows in (
                    tables["batches"][first : first + len(BATCHES)]
                    for first in range(0, len(tables["batches"]), len(BATCHES))
                )
            ],
        ),
        "deliveries": markdown(
            ["feeds", "delivery", "p5", "median", "p95", "per arrival p50", "p95", "p99", "max"],
            [[row["feeds"], worded(row), *percentiles(row), *arrivals(row)] for row in tables["deliveries"]],
        ),
        "explorations": markdown(
            ["events", "feeds", "delivery", "forward", "most", "backward", "most"],
            [
                [
                    thousands(row["events"]),
                    row["feeds"],
                    worded(row),
                    *(f"{row[name]:,.2f}" if name in STRATEGIES else f"{row[name]:,}" for name in list(row)[4:]),
                ]
                for row in tables["explorations"]
            ],
        ),
        "successors": markdown(
            ["feeds", "cross-references", "p50", "p99", "max", "above 3", "refused as appended", "by feed", "differ"],
            [
                [row["feeds"], row["references"], *(f"{row[name]:,}" for name in list(row)[3:])]
                for row in tables["successors"]
            ],
        ),
    }


def by_feeds(rows: Rows, columns: Sequence[str], titles: Sequence[str]) -> list[str]:
    """Lay rows out by size and number of feeds, a line for each column."""
    lines = []
    for size in dict.fromkeys(row["events"] for row in rows):
        found = {row["feeds"]: row for row in rows if row["events"] == size}
        for column, title in zip(columns, titles, strict=True):
            cells = (found.get(feeds, {}).get(column) for feeds in FEEDS)
            lines.append([thousands(size), title, *("" if cell is None else f"{cell:.2f}" for cell in cells)])
    return markdown(["events", "", *map(str, FEEDS)], lines)


def thousands(size: int) -> str:
    """Write a number of events as the document does, where it can be."""
    return f"{size // K}K" if size % K == 0 else f"{size:,}"


def worded(row: dict) -> str:
    """Say how events were delivered."""
    words = {"in_order": "as appended", "by_feed": "random feed", "late": f"up to {row['bound']:,} late"}
    return words[row["delivery"]]


def said(row: dict) -> str:
    """Say who lists how many cross-references."""
    if row["one_feed_in"] == 1:
        return str(row["references"])
    return f"one feed in {row['one_feed_in']}: {row['references']}, others 1"


def percentiles(row: dict) -> list[str]:
    """Percentiles over repetitions."""
    return [f"{row[name]:.2f}" for name in ("p5_of_runs", "p50_of_runs", "p95_of_runs")]


def arrivals(row: dict) -> list[str]:
    """Percentiles per arrival."""
    return [f"{row[name]:,}" for name in ("arrival_p50", "arrival_p95", "arrival_p99", "arrival_max")]
