"""The verdict with which a report opens: for each system with rows one sentence and up to four numbers."""

from __future__ import annotations

from typing import NamedTuple

from dbt_tangles.cli.page import inflect, join_names, quantity
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query

_MOST_REASONS = 3
#: The greatest share of rejected lines and messages set aside in a log that is mostly in order.
_FEW = 0.05


class _System(NamedTuple):
    """A system: its log, and tables with the names of their rows."""

    log: str
    taken: str  # The table of its messages
    noun: str
    verdict: str  # The verdict on a good message
    rejects: str  # The table of rejected lines
    aside: str = ""  # The table of messages that may be set aside
    aside_words: str = ""
    subjects: str = ""  # The table of the subjects that may have trouble
    subject: str = ""
    mends: str = ""  # The query of the missing message whose arrival mends the most


_SYSTEMS = (
    _System(
        *("SSB log", "ssb_messages", "message{|s}", "verified", "ssb_rejects"),
        *("tangle_messages", "set aside in tangles", "feeds", "feed{|s}", "mends_tangles"),
    ),
    _System(
        *("pzp log", "pzp_messages", "message{|s}", "verified", "pzp_rejects"),
        *("set_messages", "not valid in sets", "sets", "set{|s}"),
    ),
    _System(
        *("autobase log", "autobase_nodes", "node{|s}", "verified", "autobase_rejects"),
        *("", "", "autobase_bases", "base{|s}"),
    ),
    _System("event log", "timeline_events", "event{|s}", "accepted", "timeline_rejects"),
)


def collect(tables: Tables, counts: list[dict], well: frozenset[str]) -> list[dict]:
    """Judge each system that has rows, by the rows of each table by verdict; verdicts of `well` are no problem.

    Returns:
        For each system its `log`, the `sentence` and the `numbers`: each `n` with its `words`, `table` and most
        frequent `reasons`; the last one has the `id` of a missing message instead.
    """
    of_table = {row["table"]: row["counts"] for row in counts}
    if events := tables.row(query("event_count")):
        of_table["timeline_events"] = {"usable": events["n"]} if events["n"] else {}
    return [
        _judge(tables, each, of_table, well)
        for each in _SYSTEMS
        if of_table.get(each.taken) or of_table.get(each.rejects)
    ]


def _judge(tables: Tables, system: _System, counts: dict[str, dict[str, int]], well: frozenset[str]) -> dict:
    def split(table: str) -> tuple[int, dict[str, int]]:
        """Return the number of good rows, and the others by verdict."""
        bad = {code: n for code, n in counts.get(table, {}).items() if code not in well}
        return sum(counts.get(table, {}).values()) - sum(bad.values()), bad

    taken, (_, rejected) = split(system.taken)[0], split(system.rejects)
    said = [f"{quantity(taken, system.noun)} {inflect(taken, '{is|are}')} {system.verdict}"]
    numbers = [_number(taken, f"{inflect(taken, system.noun)} {system.verdict}", system.taken, {})]
    if bad := sum(rejected.values()):
        numbers.append(_number(bad, inflect(bad, "rejected line{|s}"), system.rejects, rejected))
        said.append(f"{quantity(bad, 'line{ is|s are}')} rejected")
    if system.aside:
        _, aside = split(system.aside)
        n = sum(aside.values())
        numbers.append(_number(n, system.aside_words, system.aside, aside))
        bad += n
        if n:
            said.append(f"{quantity(n, 'message{ is|s are}')} {system.aside_words}")
    if system.subjects:
        good, troubled = split(system.subjects)
        n = sum(troubled.values())
        numbers.append(_number(n, f"of {quantity(good + n, system.subject)} with trouble", system.subjects, troubled))
        if n:
            said.append(f"{n:,} of {quantity(good + n, system.subject)} {inflect(n, '{has|have}')} trouble")
    if system.mends and (found := tables.row(query(system.mends))):
        numbers.append({"n": found["n"], "words": "would be mended by one missing message", "id": found["id"]})
    verdict = "is in order" if len(said) == 1 else "is mostly in order" if bad <= taken * _FEW else "has much trouble"
    return {"log": system.log, "sentence": f"The {system.log} {verdict}: {join_names(said)}.", "numbers": numbers}


def _number(n: int, words: str, table: str, reasons: dict[str, int]) -> dict:
    most = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
    return {
        "n": n,
        "words": words,
        "table": table,
        "reasons": most[:_MOST_REASONS],
        "others": sum(n for _, n in most[_MOST_REASONS:]),
    }
