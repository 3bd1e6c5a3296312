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
    return Counter(
        (
            os.path.basename(unquote(row["source_file"])),
            row["line"],
            row["reason"],
            row["detail"],
            row[_IDS[kind]],
            row["line_count"],
        )
        for row in built.rows(REJECTS[kind])
        if row["source_file"]
    )


def feeds_of(findings: Iterable[Finding]) -> tuple[Counter, Counter]:
    """Return the messages beside their chains with their reasons, and the numbers of messages behind breaks."""
    of_feeds = [finding for finding in findings if finding.reason in OF_FEEDS]
    beside = Counter((f.id, f.reason) for f in of_feeds if not f.reason.startswith("after_"))
    behind: Counter = Counter()
    for finding in of_feeds:
        if finding.reason.startswith("after_"):
            behind[finding.reason] += finding.line_count
    return beside, behind


def feed_messages_of(built) -> tuple[Counter, Counter]:
    """Return the rows of `feed_messages` outside of chains in the same form."""
    rows = [row for row in built.rows("feed_messages") if row["reason"]]
    beside = Counter((row["message_id"], row["reason"]) for row in rows if not row["reason"].startswith("after_"))
    return beside, Counter(row["reason"] for row in rows if row["reason"].startswith("after_"))
