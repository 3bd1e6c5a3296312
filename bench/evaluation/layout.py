"""The tables of docs/evaluation: for each, its columns and the cells of a row."""

from collections.abc import Callable, Sequence
from typing import Any

from bench.page import markdown

K = 1024
Row = dict[str, Any]
#: A column: its title, and the function that writes its cell.
Column = tuple[str, Callable[[Row], Any]]


def plain(name: str) -> Callable[[Row], Any]:
    """Write a value as it is."""
    return lambda row: row[name]


def whole(name: str) -> Callable[[Row], str]:
    """Write a number with separators of thousands."""
    return lambda row: f"{row[name]:,}"


def decimals(name: str) -> Callable[[Row], str]:
    """Write a number with two decimals."""
    return lambda row: f"{row[name]:,.2f}"


def thousands(size: int) -> str:
    """Write a number of events in units of 1,024, as the document does, if it is a multiple."""
    return f"{size // K}K" if size % K == 0 else f"{size:,}"


def delivery(row: Row) -> str:
    """Describe how the events of a row were delivered."""
    words = {"in_order": "as appended", "by_feed": "random feed", "late": f"up to {row['bound']:,} late"}
    return words[row["delivery"]]


def references(row: Row) -> str:
    """Describe how many cross-references the feeds of a row list."""
    if row["one_feed_in"] == 1:
        return str(row["references"])
    return f"one feed in {row['one_feed_in']}: {row['references']}, others 1"


def feeds_with_lurkers(row: Row) -> str:
    """Describe the feeds of a row, the silent ones included."""
    return f"{row['feeds']} + {row['lurkers']} silent" if row["lurkers"] else f"{row['feeds']} alone"


EVENTS: Column = ("events", lambda row: thousands(row["events"]))
FEEDS: Column = ("feeds", plain("feeds"))
DELIVERY: Column = ("delivery", delivery)
REFERENCES: Column = ("cross-references", plain("references"))
SPREAD: list[Column] = [
    ("p5", decimals("p5_of_runs")),
    ("median", decimals("p50_of_runs")),
    ("p95", decimals("p95_of_runs")),
]
PER_ARRIVAL: list[Column] = [
    ("per arrival p50", whole("arrival_p50")),
    *((name, whole(f"arrival_{name}")) for name in ("p95", "p99", "max")),
]

COLUMNS: dict[str, list[Column]] = {
    "repetitions": [EVENTS, FEEDS, *SPREAD, ("document", plain("document")), *PER_ARRIVAL],
    "lurkers": [("feeds", feeds_with_lurkers), DELIVERY, *SPREAD, *PER_ARRIVAL],
    "references": [FEEDS, REFERENCES, *SPREAD, *PER_ARRIVAL],
    "limit": [
        FEEDS,
        ("cross-references", references),
        ("limit", lambda row: row["max_previous"] or "none"),
        ("refused", whole("refused")),
        ("missing causes", whole("missing_causes")),
        ("events with any", whole("with_missing_causes")),
        ("per event", decimals("per_event")),
    ],
    "deliveries": [FEEDS, DELIVERY, *SPREAD, *PER_ARRIVAL],
    "explorations": [
        *(EVENTS, FEEDS, DELIVERY),
        *(("forward", decimals("forward")), ("most", whole("forward_max"))),
        *(("backward", decimals("backward")), ("most", whole("backward_max"))),
    ],
}


def lay_out(tables: dict[str, list[Row]], feeds: Sequence[int], batches: Sequence[int]) -> dict[str, list[str]]:
    """Lay out the tables for reading.

    Args:
        tables: The rows of each table.
        feeds: The numbers of feeds, the columns of the tables by size.
        batches: The arrivals in a batch, the columns of that table.

    Returns:
        The lines of each table.
    """
    found = {
        name: markdown([title for title, _ in columns], [[cell(row) for _, cell in columns] for row in tables[name]])
        for name, columns in COLUMNS.items()
    }
    alone = [row for row in tables["peer"] if row["references"] == 1]
    found["sizes"] = by_feeds(tables["sizes"], feeds, {"per_event": "shortest", "document": "document"})
    found["peer"] = by_feeds(alone, feeds, {"peer": "peer", "shortest": "shortest"})
    lines = []
    for first in range(0, len(tables["batches"]), len(batches)):
        rows = tables["batches"][first : first + len(batches)]
        lines.append([thousands(rows[0]["events"]), rows[0]["feeds"], *(f"{row['per_event']:.3f}" for row in rows)])
    found["batches"] = markdown(["events", "feeds", *(f"{batch:,}" for batch in batches)], lines)
    return found


def by_feeds(rows: list[Row], feeds: Sequence[int], titles: dict[str, str]) -> list[str]:
    """Lay out rows by size and number of feeds, a line for each figure."""
    lines = []
    for size in dict.fromkeys(row["events"] for row in rows):
        found = {row["feeds"]: row for row in rows if row["events"] == size}
        for figure, title in titles.items():
            cells = (found.get(count, {}).get(figure) for count in feeds)
            lines.append([thousands(size), title, *("" if cell is None else f"{cell:.2f}" for cell in cells)])
    return markdown(["events", "", *map(str, feeds)], lines)
