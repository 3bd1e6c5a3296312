"""The data of the first page: verdicts, runs, problems, messages over time, and sizes of tangles."""

import csv
from pathlib import Path

from dbt_tangles.cli import problems, runs, verdict_counts
from dbt_tangles.cli.duplicate_tangles import TablesOnce, count_alike, describe_alike
from dbt_tangles.cli.page import inflect, join_names, quantity
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.reasons import COLUMNS, meanings
from dbt_tangles.report.names import file_name

BINS = 60
_OF_RUNS = ("status", "started_at", "seconds", "tables", "current_tables", "inputs")
#: Verdicts that are no problem.
WELL = frozenset(
    (
        *("", "usable", "in_chain", "complete", "member", "present", "valid", "counted", "ok", "indexing", "feed"),
        *("held", "non_indexing", "relayed", "with edits", "whole log", "without edits", "empty"),
    )
)
_MOST_REASONS = 3
#: The greatest share of rejected lines and messages set aside in a log that is mostly in order.
_FEW = 0.05


#: Systems: the log; the table of its messages, their `noun` and the `verdict` on a good one; the table of rejected
#: lines; the table of messages that may be set `aside`, in words; that of the `subjects` that may have trouble, each a
#: `subject`; and the query of the missing message that `mends` the most.
with Path(__file__).with_name("systems.csv").open(encoding="utf-8", newline="") as _file:
    _SYSTEMS = [*csv.DictReader(_file)]


def collect(tables: TablesOnce) -> dict:
    """Collect the data of the first page."""
    last = runs.last_runs(tables)
    for run in last:  # A report names logs, and no folder of the machine.
        run["inputs"] = [log | {"path": file_name(log["path"])} for log in run["inputs"]]
    found = [row for row in verdict_counts.count(tables) if row["is_news"]]
    return {
        "runs": [{name: run[name] for name in _OF_RUNS} for run in last],
        "verdicts": _judge_each(tables, found),
        "counts": found,
        "meanings": {row["table"]: _meanings(row) for row in found},
        "alike": [describe_alike(row) for row in count_alike(tables)],
        "look_at": problems.find(tables, last, None),
        "over_time": over_time(tables),
        **histograms(tables),
    }


def _meanings(row: dict) -> dict[str, str]:
    """Return the meanings of the reasons among a table's verdicts."""
    known = next((meanings(column) for column in COLUMNS if column.startswith(f"{row['table']}.")), {})
    return {code: known[code] for code in row["counts"] if code in known}


def over_time(tables: Tables) -> dict | None:
    """Count the messages of tangles in 60 equal spans of time: members that are not forks, forks, merges, set aside.

    Returns:
        The counts, if any message has a time. The spans cover the middle 99% of the times; earlier and later messages
        count in the first and last span.
    """
    bins = tables.rows(query("over_time"), bins=BINS)
    found = [{name: row.pop(name) for name in ("first", "width", "without_time")} for row in bins]
    return found[0] | {"bins": bins} if found else None


def histograms(tables: Tables) -> dict[str, list[dict]]:
    """Count the tangles other than feeds by number of candidates (`sizes`) and by depth, in ranges 0, 1, 2 to 3, ..."""
    charts: dict[str, list[dict]] = {"sizes": [], "depths": []}
    for row in tables.rows(query("tangle_histograms")):
        charts[row.pop("chart")].append(row)
    return charts


def _judge_each(tables: Tables, counts: list[dict]) -> list[dict]:
    """Judge each system that has rows, by the rows of each table by verdict; verdicts of `WELL` are no problem.

    Returns:
        For each system its `log`, the `sentence` and the `numbers`: each `n` with its `words`, `table` and most
        frequent `reasons`; the last one has the `id` of a missing message instead.
    """
    of_table = {row["table"]: row["counts"] for row in counts}
    if events := tables.row(query("event_count")):
        of_table["timeline_events"] = {"usable": events["n"]} if events["n"] else {}
    return [
        _judge(tables, each, of_table)
        for each in _SYSTEMS
        if of_table.get(each["taken"]) or of_table.get(each["rejects"])
    ]


def _judge(tables: Tables, system: dict[str, str], counts: dict[str, dict[str, int]]) -> dict:
    def split(table: str) -> tuple[int, dict[str, int]]:
        """Return the number of good rows, and the others by verdict."""
        bad = {code: n for code, n in counts.get(table, {}).items() if code not in WELL}
        return sum(counts.get(table, {}).values()) - sum(bad.values()), bad

    taken, (_, rejected) = split(system["taken"])[0], split(system["rejects"])
    said = [f"{quantity(taken, system['noun'])} {inflect(taken, '{is|are}')} {system['verdict']}"]
    numbers = [_number(taken, f"{inflect(taken, system['noun'])} {system['verdict']}", system["taken"], {})]
    if bad := sum(rejected.values()):
        numbers.append(_number(bad, inflect(bad, "rejected line{|s}"), system["rejects"], rejected))
        said.append(f"{quantity(bad, 'line{ is|s are}')} rejected")
    if system["aside"]:
        _, aside = split(system["aside"])
        n = sum(aside.values())
        numbers.append(_number(n, system["aside_words"], system["aside"], aside))
        bad += n
        if n:
            said.append(f"{quantity(n, 'message{ is|s are}')} {system['aside_words']}")
    if system["subjects"]:
        good, troubled = split(system["subjects"])
        n = sum(troubled.values())
        numbers.append(
            _number(n, f"of {quantity(good + n, system['subject'])} with trouble", system["subjects"], troubled)
        )
        if n:
            said.append(f"{n:,} of {quantity(good + n, system['subject'])} {inflect(n, '{has|have}')} trouble")
    if system["mends"] and (found := tables.row(query(system["mends"]))):
        numbers.append({"n": found["n"], "words": "would be mended by one missing message", "id": found["id"]})
    verdict = "is in order" if len(said) == 1 else "is mostly in order" if bad <= taken * _FEW else "has much trouble"
    return {"log": system["log"], "sentence": f"The {system['log']} {verdict}: {join_names(said)}.", "numbers": numbers}


def _number(n: int, words: str, table: str, reasons: dict[str, int]) -> dict:
    most = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
    return {
        "n": n,
        "words": words,
        "table": table,
        "reasons": most[:_MOST_REASONS],
        "others": sum(n for _, n in most[_MOST_REASONS:]),
    }
