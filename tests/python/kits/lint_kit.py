"""Findings of `tangles lint` in the form of the tables of a build on the same log."""

import os
from collections import Counter
from collections.abc import Iterable
from urllib.parse import unquote

from dbt_tangles.lint import log_files
from dbt_tangles.lint.findings import Finding, judge, reading_of

#: Kind of log: its table of rejects.
REJECTS = {"ssb": "ssb_rejects", "pzp": "pzp_rejects", "autobase": "autobase_rejects", "events": "timeline_rejects"}
_IDS = {"ssb": "message_id", "pzp": "message_id", "autobase": "node_id", "events": "event_id"}
#: Reasons of findings about feeds, of which none is a reason of a rejected line.
OF_FEEDS = ("forked", "bad_link", "off_chain", "after_gap", "after_forked", "after_bad_link")


def findings_of(kind: str, *paths: str) -> list[Finding]:
    """Judge logs of one kind."""
    files = [file for path in paths for file in log_files.find_files(str(path))]
    return list(judge(kind, files, reading_of(kind, is_pretty=False)).findings)


def as_rejects(findings: Iterable[Finding]) -> Counter:
    """Count findings by file name, line, reason, detail, id and the number of lines."""
    return Counter((os.path.basename(f.file), f.line, f.reason, f.detail, f.id, f.line_count) for f in findings)


def rejects_of(built, kind: str) -> Counter:
    """Count the rows of a table of rejects in the same form."""
    columns = "line", "reason", "detail", _IDS[kind], "line_count"
    rows = [row for row in built.rows(REJECTS[kind]) if row["source_file"]]
    return Counter((os.path.basename(unquote(row["source_file"])), *(row[name] for name in columns)) for row in rows)


def feeds_of(findings: Iterable[Finding]) -> tuple[Counter, Counter]:
    """Return the messages beside their chains with their reasons, and the numbers of messages behind breaks."""
    return _count((f.id, f.reason, f.line_count) for f in findings if f.reason in OF_FEEDS)


def feed_messages_of(built) -> tuple[Counter, Counter]:
    """Return the rows of `feed_messages` outside of chains in the same form."""
    return _count((row["message_id"], row["reason"], 1) for row in built.rows("feed_messages") if row["reason"])


def _count(outside: Iterable[tuple[str, str, int]]) -> tuple[Counter, Counter]:
    beside: Counter = Counter()
    behind: Counter = Counter()
    for id_, reason, count in outside:
        if reason.startswith("after_"):
            behind[reason] += count
        else:
            beside[id_, reason] += 1
    return beside, behind
