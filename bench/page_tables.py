"""What the page of all figures says of each part: which rows of `<part>.json` become which table.

A file may be of another revision, or of nobody's making: what is not there, or is not what it should be, is an empty
cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
#: What a row is about, and its figures by column.
Line = tuple[tuple[Any, ...], Row]

CPU, WALL, LIMIT, RATIO = "CPU s", "clock, s", "LIMIT, CPU s", "/ LIMIT"
ALONE, POWER, PEAK = "kernel alone, CPU s", "power", "peak MiB"


@dataclass(frozen=True)
class Table:
    """A table of a part.

    Attributes:
        title: What it shows.
        about: The titles of the columns that say what a row is about.
        lines: Finds the rows.
        expected: How that begins of which there are to be rows, in their order; others follow.
        by_engine: Whether the figures depend on the engine, so that those of both stand side by side.
    """

    title: str
    about: tuple[str, ...]
    lines: Callable[[list[Row]], Iterator[Line]]
    expected: tuple[tuple[Any, ...], ...] = ()
    by_engine: bool = True


@dataclass(frozen=True)
class Part:
    """A benchmark.

    Attributes:
        what: What it measures.
        tables: Its tables.
        note: What else there is to say.
    """

    what: str
    tables: tuple[Table, ...] = ()
    note: str = ""


def at(row: Any, *keys: str) -> Any:
    """Get what is there, or None."""
    for key in keys:
        row = row.get(key) if isinstance(row, dict) else None
    return row


def is_number(value: Any) -> bool:
    """Whether it is a number that may be a figure."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15


def name_of(row: Row, key: str) -> Any:
    """Get what can be the name of something, or None."""
    value = row.get(key)
    return value if isinstance(value, str) or is_number(value) else None


def chosen(rows: list[Row], **wanted: Any) -> Iterator[Row]:
    """Choose rows by what they have."""
    return (row for row in rows if all(row.get(key) == value for key, value in wanted.items()))


def of_limit(row: Row, work: str) -> Row:
    """The figures of work that was measured next to LIMIT."""
    ratio = at(row, work, "ratio") if at(row, work, "ratio") is not None else row.get("ratio")
    return {
        CPU: at(row, work, "cpu_s"),
        WALL: at(row, work, "wall_s"),
        LIMIT: at(row, "limit", "cpu_s"),
        RATIO: ratio,
        ALONE: row.get("kernel_alone_cpu_s"),
    }


def beside_limit(work: str, *about: str) -> Callable[[list[Row]], Iterator[Line]]:
    """Find the rows of models next to LIMIT."""

    def lines(rows: list[Row]) -> Iterator[Line]:
        for row in chosen(rows, part="spark"):
            yield tuple(row.get(name) for name in about), of_limit(row, work)

    return lines


def columns(about: Sequence[str], figures: dict[str, str], **wanted: Any) -> Callable[[list[Row]], Iterator[Line]]:
    """Find rows by what they have, and show some of it under other names."""

    def lines(rows: list[Row]) -> Iterator[Line]:
        for row in chosen(rows, **wanted):
            if any(row.get(key) is not None for key in figures):
                yield tuple(row.get(name) for name in about), {title: row.get(key) for key, title in figures.items()}

    return lines


def graph_lines(rows: list[Row]) -> Iterator[Line]:
    """Find the shapes, each by `auto` and by the kernel."""
    for row in rows:
        for engine in ("auto", "kernel"):
            if isinstance(row.get("limit"), dict) and isinstance(row.get(engine), dict):
                yield (row.get("shape"), engine, row.get("messages")), of_limit(row, engine)


def verify_lines(rows: list[Row]) -> Iterator[Line]:
    """Find the kinds of logs."""
    for row in rows:
        rates = {
            "messages a CPU s": row.get("spark_messages_per_cpu_s"),
            "kernel alone": row.get("kernel_messages_per_cpu_s"),
            "libsodium alone": row.get("libsodium_messages_per_cpu_s"),
            "/ libsodium": row.get("ratio_to_libsodium"),
        }
        yield (
            (row.get("kind"), row.get("lines")),
            {
                CPU: at(row, "spark", "cpu_s"),
                WALL: at(row, "spark", "wall_s"),
                **rates,
            },
        )


def build_lines(rows: list[Row]) -> Iterator[Line]:
    """Find the builds."""
    for row in rows:
        yield (
            (row.get("build"),),
            {
                WALL: row.get("wall_s"),
                CPU: row.get("cpu_s"),
                PEAK: at(row, "peak_mib", "all"),
                "steps": row.get("nodes"),
                "messages": row.get("messages"),
                "tables, MiB": row.get("tables_mib"),
            },
        )


def moved_lines(rows: list[Row]) -> Iterator[Line]:
    """Find what Spark says of its jobs in builds."""
    for row in rows:
        if isinstance(moved := row.get("moved"), dict):
            units = {name: re.sub("_s$", ", s", re.sub("_mib$", ", MiB", name)) for name in moved}
            figures = {units[name].replace("_", " "): value for name, value in moved.items()}
            yield (row.get("build"), row.get("messages")), figures


def table_lines(rows: list[Row]) -> Iterator[Line]:
    """Find the tables that are SQL."""
    for row in rows:
        yield (row.get("table"), row.get("rows")), of_limit(row, "statement")


def growth_lines(*about: str, **wanted: Any) -> Callable[[list[Row]], Iterator[Line]]:
    """Find the powers with which seconds grow."""
    return columns(about, {"power": POWER}, **wanted)


def others_lines(figure: str) -> Callable[[list[Row]], Iterator[Line]]:
    """Find what each tool took for a shape of a size, a column each."""

    def lines(rows: list[Row]) -> Iterator[Line]:
        known = [row for row in rows if isinstance(row.get("who"), str)]
        tools = list(dict.fromkeys(row["who"] for row in known))
        asked: dict[tuple, Row] = {}
        for row in known:
            told = row.get(figure) if row.get("ended") is None else "no answer"
            asked.setdefault((name_of(row, "shape"), name_of(row, "messages")), {})[row["who"]] = told
        for about, told in asked.items():
            yield about, {tool: told.get(tool, "not asked") for tool in tools}

    return lines


def ended_lines(rows: list[Row]) -> Iterator[Line]:
    """Find who came to no answer, and why."""
    for row in rows:
        if row.get("ended") is not None:
            yield (row.get("shape"), row.get("who"), row.get("messages")), {"why": row["ended"]}


def last_power_lines(rows: list[Row]) -> Iterator[Line]:
    """Fit the power of the messages with which seconds grow between the last two sizes that a tool survived."""
    from bench.turns import power

    found: dict[tuple, list[tuple[int, float]]] = {}
    for row in rows:
        if is_number(row.get("messages")) and is_number(row.get("cpu_s")) and row["messages"] > 0:
            about = name_of(row, "shape"), name_of(row, "who")
            found.setdefault(about, []).append((row["messages"], row["cpu_s"]))
    for about, points in found.items():
        last = sorted(points)[-2:]
        if len({size for size, _ in last}) == 2:
            (small, _), (large, _) = last
            yield about, {"from": small, "to": large, POWER: power(*zip(*last, strict=True))}


PARTS = {
    "graphs": Part(
        "Edges, membership, depths, orders and redundant links of tangles, by default (`auto`) and by the kernel.",
        (
            Table(
                "Models next to LIMIT",
                ("shape", "tangle_engine", "messages"),
                graph_lines,
                tuple((shape, engine) for shape in "WDM" for engine in ("auto", "kernel")),
            ),
        ),
        "Sail has no figures: in the bare catalog of this part it leaves the files of tables that were dropped.",
    ),
    "verify": Part(
        "The check of signed logs, next to a bare loop of libsodium over the same texts.",
        (Table("Messages", ("log", "lines"), verify_lines, (("ssb",), ("pzp",))),),
        "There is no LIMIT: what nobody gets by without is libsodium.",
    ),
    "builds": Part(
        "`dbt build` as a user runs it, once each.",
        (
            Table("Builds", ("build",), build_lines, (("fixtures",), ("medium",), ("peer",), ("peer_kernel",))),
            Table("What Spark moved (`--moved`)", ("build", "messages"), moved_lines, by_engine=False),
        ),
    ),
    "timelines": Part(
        "The order of timelines and their edit scripts, beside the package `scuttlesort`.",
        (
            Table(
                "`int_timeline_order` without edit scripts, next to LIMIT",
                ("shape", "arrivals"),
                beside_limit("order", "shape", "arrivals"),
                (("one",), ("many",)),
            ),
            Table(
                "The order alone, by the kernel",
                ("events", "feeds"),
                columns(("events", "feeds"), {"cpu_s": CPU}, part="order"),
                by_engine=False,
            ),
            Table(
                "Edit scripts by the kernel, as logs grow",
                ("arrivals in a batch", "feeds", "events"),
                columns(
                    ("batch", "feeds", "events"), {"cpu_s": CPU, "events_per_cpu_s": "events a CPU s"}, part="growth"
                ),
                by_engine=False,
            ),
            Table(
                "Power of the events with which CPU seconds grow",
                ("arrivals in a batch", "feeds"),
                growth_lines("batch", "feeds", part="growth"),
                by_engine=False,
            ),
            Table(
                "Beside the peer, on the same arrivals, one by one",
                ("feeds", "events"),
                columns(
                    ("feeds", "events"),
                    {"cpu_s": CPU, "peer_cpu_s": "peer, CPU s", "ratio": "times"},
                    part="peer",
                ),
                by_engine=False,
            ),
            Table(
                "Hard shapes",
                ("shape", "events"),
                columns(
                    ("shape", "events"),
                    {
                        "cpu_s": CPU,
                        "peer_cpu_s": "peer, CPU s",
                        "ratio": "times",
                        "full_events": "at most, events",
                        "full_cpu_s": "at most, CPU s",
                    },
                    part="shapes",
                ),
                by_engine=False,
            ),
        ),
    ),
    "sets": Part(
        "The reduction of pzp sets, beside the peer's algorithm.",
        (
            Table(
                "`int_set_messages` next to LIMIT",
                ("shape", "messages"),
                beside_limit("reduce", "shape", "messages"),
                (("one",), ("many",)),
            ),
            Table(
                "One set, by the kernel",
                ("messages",),
                columns(("messages",), {"cpu_s": CPU, "messages_per_cpu_s": "messages a CPU s"}, part="kernel"),
                by_engine=False,
            ),
            Table(
                "Power of the messages with which CPU seconds grow",
                (),
                growth_lines(part="growth"),
                by_engine=False,
            ),
            Table(
                "Beside the peer's algorithm",
                ("messages",),
                columns(
                    ("messages",),
                    {
                        "cpu_s": CPU,
                        "peer_cpu_s": "the algorithm, CPU s",
                        "ratio": "times",
                        "quoted_cpu_s": "the peer itself, quoted, CPU s",
                        "ratio_to_quoted": "times the peer itself",
                        "left_out": "left out",
                    },
                    part="peer",
                ),
                by_engine=False,
            ),
        ),
    ),
    "autobase": Part(
        "The order of Autobase's bases and what of it is settled.",
        (
            Table(
                "10,000 bases of 20 nodes next to LIMIT",
                ("model", "nodes"),
                beside_limit("model", "name", "nodes"),
                tuple((f"int_autobase_{name}",) for name in ("views", "changes", "quorums")),
            ),
            Table(
                "One base, by the kernel",
                ("indexers", "nodes"),
                columns(
                    ("indexers", "nodes"),
                    {"cpu_s": CPU, "quoted_cpu_s": "the peer, quoted, CPU s", "ratio_to_quoted": "times"},
                    part="kernel",
                ),
                by_engine=False,
            ),
            Table(
                "Nothing is ever settled",
                ("shape", "indexers", "nodes"),
                columns(("shape", "indexers", "nodes"), {"cpu_s": CPU}, part="stalled"),
                by_engine=False,
            ),
            Table(
                "Power of the nodes with which CPU seconds grow",
                ("shape", "indexers"),
                lambda rows: (
                    line
                    for part in ("kernel_growth", "stalled_growth")
                    for line in growth_lines("shape", "indexers", part=part)(rows)
                ),
                by_engine=False,
            ),
        ),
    ),
    "groups": Part(
        "The epochs and members of private groups: 100,000 groups of 30 messages, and one of 204,000.",
        (
            Table(
                "Models next to LIMIT",
                ("model", "shape", "messages"),
                beside_limit("model", "name", "shape", "messages"),
                tuple(
                    (model, shape)
                    for model in ("int_group_results", "int_group_foreign_excludes")
                    for shape in ("many", "one")
                ),
            ),
            Table(
                "By the kernels alone",
                ("model", "shape", "messages"),
                columns(("name", "shape", "messages"), {"rows": "rows", "cpu_s": CPU}, part="kernel"),
                by_engine=False,
            ),
        ),
    ),
    "ask": Part(
        "The command `tangles` on tables of a million messages, a process each time; without an engine.",
        (
            Table(
                "Questions",
                ("question", "messages"),
                columns(("question", "messages"), {"cpu_s": CPU, "wall_s": WALL, "best_wall_s": "clock at best, s"}),
                by_engine=False,
            ),
        ),
    ),
    "tables": Part(
        "Tables that are SQL, over what `builds` left of a log in the size of a real peer's; on Spark alone.",
        (Table("Tables next to LIMIT", ("table", "rows"), table_lines),),
    ),
    "increments": Part(
        "`dbt build` of a log that grows in one warehouse.",
        (
            Table(
                "Nights",
                ("new",),
                columns(("night",), {"wall_s": WALL, "cpu_s": CPU, "steps": "steps", "unchanged": "of them unchanged"}),
                (("everything",), ("0.01 % more",), ("1 % more",), ("nothing new",)),
            ),
        ),
    ),
    "others": Part(
        "The depth of every message, by our kernel (which finds members, orders and redundant links besides) and by "
        "what else one would take: graph libraries from Python, and a recursive CTE of DuckDB. Each has a process of "
        "its own, 60 CPU seconds and 8 GiB, starts from the same file, and is asked no more once it came to no answer.",
        (
            Table("CPU seconds", ("shape", "messages"), others_lines("cpu_s"), by_engine=False),
            Table("Peak MiB", ("shape", "messages"), others_lines("peak_mib"), by_engine=False),
            Table("Who came to no answer", ("shape", "who", "messages"), ended_lines, by_engine=False),
            Table(
                "Power of the messages with which CPU seconds grow, between the last two sizes, start included",
                ("shape", "who"),
                last_power_lines,
                by_engine=False,
            ),
        ),
        "GraphFrames is not among them: its Python package has no jar, and the only jar that comes in a package is for "
        "Spark 2.4 and Scala 2.11, which Spark 4 cannot load.",
    ),
    "skew": Part(
        "One tangle that is a third of a log: what its one task needs in Python, without an engine.",
        (
            Table(
                "Kernels",
                ("model", "messages"),
                columns(("kernel", "messages"), {"cpu_s": CPU, "wall_s": WALL, "peak_mib": PEAK}),
                by_engine=False,
            ),
        ),
        "The powers with which seconds and memory grow are among the goals.",
    ),
    "evaluation": Part("Commands per event: all tables are in the [evaluation](../evaluation/README.md)."),
    "arrivals": Part(
        "Commands per arrival of a log as a real peer's: the table is in the [evaluation](../evaluation/README.md)."
    ),
}
