"""Writes findings as lines, as workflow commands of GitHub Actions, and as SARIF 2.1.0.

All texts may come from a hostile log: they are bounded, and every character that is not printable is escaped.
"""

from collections.abc import Iterable
from urllib.parse import quote

from dbt_tangles.cli import messages
from dbt_tangles.cli.lint import MOST_DETAIL
from dbt_tangles.cli.page import escape_brackets, escape_line, escape_unprintable, truncate
from dbt_tangles.lint.findings import Finding
from dbt_tangles.lint.log_kinds import AUTOBASE, EVENTS, PZP, SSB
from dbt_tangles.reasons import EventReason

#: Kind: the meanings of the reasons that its findings use, by column, see `dbt_tangles.reasons`.
_MEANINGS = {
    SSB: messages.meaning_in(
        "ssb_rejects.reason",
        "feed_messages.reason",
        "tangle_messages.set_aside_reason",
        "group_messages.set_aside_reason",
        "records.left_out",
    ),
    PZP: messages.pzp,
    AUTOBASE: messages.autobase,
    EVENTS: messages.event,
}


def detail(finding: Finding) -> str:
    """Describe a finding in one bounded sentence; the meaning of its reason comes first."""
    # The details of these findings in event logs repeat the meanings of their reasons.
    without_detail = (EventReason.CONFLICT, EventReason.DUPLICATE, EventReason.CYCLE)
    is_repeated = finding.reason in without_detail and finding.kind == EVENTS
    own = f"({finding.detail})" if finding.detail and not is_repeated else ""
    words = " ".join(filter(None, [_MEANINGS[finding.kind](finding.reason), own]))
    many = f" [{finding.line_count:,} times]" if finding.line_count > 1 and finding.detail is None else ""
    return truncate(escape_line(words), MOST_DETAIL) + many


def as_text(finding: Finding) -> str:
    """Write a finding as `FILE:LINE: reason: detail`."""
    return escape_line(f"{finding.file}:{finding.line}: {finding.reason}: {detail(finding)}")


def as_github(finding: Finding) -> str:
    """Write a finding as an error annotation of GitHub Actions."""
    file = _escaped(escape_unprintable(finding.file)).replace(":", "%3A").replace(",", "%2C")
    line = f"::error file={file},line={finding.line},title={finding.reason}::{_escaped(detail(finding))}"
    return escape_brackets(line)


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def as_sarif(findings: Iterable[Finding], version: str) -> dict:
    """Write findings as a SARIF log (OASIS, 2.1.0) with one run; the rules are the reasons that occur."""
    results, rules = [], {}
    for finding in findings:
        rules[finding.reason] = _MEANINGS[finding.kind](finding.reason)
        place = {"artifactLocation": {"uri": _uri(finding.file)}, "region": {"startLine": max(finding.line, 1)}}
        results.append(
            {
                "ruleId": finding.reason,
                "level": "error",
                "message": {"text": detail(finding)},
                "locations": [{"physicalLocation": place}],
            }
        )
    driver = {
        "name": "tangles",
        "version": version,
        "rules": [{"id": reason, "shortDescription": {"text": words}} for reason, words in sorted(rules.items())],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _uri(file: str) -> str:
    path = quote(file.encode("utf-8", "surrogateescape"))
    return f"file://{path}" if file.startswith("/") else path
