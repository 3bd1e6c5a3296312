"""The tables on the page of docs/evaluation; the CSV files beside it have every figure."""

from typing import Any

import pandas as pd

from bench.page import markdown

Rows = list[dict[str, Any]]


def lay_out(tables: dict[str, Rows]) -> dict[str, list[str]]:
    """Lay out the figures for reading; return the lines of each table."""
    sizes = pd.DataFrame(tables["sizes"])
    largest = sizes[sizes["events"] == sizes["events"].max()].rename(columns={"p50_of_runs": "shortest"})
    deliveries = pd.DataFrame(tables["deliveries"])
    deliveries["delivery"] = [delivery(row) for row in tables["deliveries"]]
    batches = pd.DataFrame(tables["batches"])
    batches["events"] = [f"{row['events']:,}, {row['feeds']} feeds" for row in tables["batches"]]
    return {
        "sizes": grid(largest.melt("feeds", ["shortest", "document"], "scripts"), "scripts", "feeds", "value"),
        "references": grid(pd.DataFrame(tables["references"]), "references", "feeds", "p50_of_runs"),
        "batches": grid(batches, "events", "batch", "per_event"),
        "deliveries": grid(deliveries, "delivery", "feeds", "p50_of_runs"),
    }


def delivery(row: dict[str, Any]) -> str:
    """Describe how the events of a row were delivered."""
    words = {"in_order": "as appended", "by_feed": "random feed", "late": f"up to {row['bound']:,} late"}
    return words[row["delivery"]]


def grid(rows: pd.DataFrame, down: str, across: str, value: str) -> list[str]:
    """Lay out a value by two keys, in the order of the rows."""
    found = rows.pivot(index=down, columns=across, values=value)
    found = found.loc[rows[down].unique(), rows[across].unique()]
    lines = [[str(key), *(f"{each:.2f}" for each in row)] for key, row in found.iterrows()]
    return markdown([f"{down}, {across}:", *(f"{each:,}" for each in found.columns)], lines)
