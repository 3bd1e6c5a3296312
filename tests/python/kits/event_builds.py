"""Compares the tables of a build of event logs with the oracle, by timeline; prints lines of event logs."""

import json
from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np
import pytest

import timeline_oracle as oracle

TABLES = ("timeline_events", "timeline_links", "timeline_edits", "timeline_rejects", "timeline_stats")
SELECTED = ("--select", *(f"+{table}" for table in TABLES))
CAUTIOUS = ("--indirect-selection", "cautious")


class Arrival(NamedTuple):
    """A line of an event log."""

    timeline: str
    event: str
    after: list
    arrival: int
    author: str | None = None


def to_line(arrival: Arrival) -> bytes:
    return json.dumps({name: value for name, value in arrival._asdict().items() if value is not None}).encode()


def refusals(arrivals, max_previous=None):
    """Return the reason of each arrival that is refused without regard to the order of arrivals, or None."""
    contradicted = oracle.conflicts([(a.event, a.after, a.author) for a in arrivals])
    is_wide = [max_previous is not None and len(set(a.after) - {a.event}) > max_previous for a in arrivals]
    return ["too_many_previous" if wide else reason for wide, reason in zip(is_wide, contradicted, strict=True)]


def admit(arrivals, refused):
    """Admit sorted arrivals; return the causes of each admitted event and the reject reason (or None) by arrival."""
    return oracle.admit([(a.event, a.after) for a in arrivals], refused)


def rows_of(known, arrivals):
    """Return the expected rows of `timeline_events` for a timeline, from its accepted arrivals."""
    said = {a.event: {"arrival": a.arrival, "author": a.author} for a in arrivals}
    return [{"event_id": event} | place | said[event] for event, place in oracle.places(known).items()]


class Built:
    """The tables of a build, by timeline."""

    def __init__(self, project):
        self.project = project
        self.events = grouped(project.rows("timeline_events"))
        self.edits = grouped(project.rows("timeline_edits"))
        self.rejects = grouped(project.rows("timeline_rejects"))
        self.stats = grouped(project.rows("timeline_stats"))

    def rows(self, timeline):
        """Return the events of a timeline by their position."""
        rows = sorted(self.events[timeline], key=lambda row: row["position"])
        assert [row["position"] for row in rows] == list(range(len(rows)))
        return rows

    def order(self, timeline):
        """Return the names of the events of a timeline by their position."""
        return [row["event_id"] for row in self.rows(timeline)]

    def scripts(self, timeline):
        """Return the commands of each batch in their order."""
        scripts = defaultdict(list)
        for row in sorted(self.edits.get(timeline, []), key=lambda row: (row["batch"], row["step"])):
            scripts[row["batch"]].append((row["op"], row["event_id"], row["from_position"], row["to_position"]))
            assert row["step"] == len(scripts[row["batch"]])
        return dict(scripts)

    def replay(self, timeline):
        """Return the order after all commands."""
        order = []
        for commands in self.scripts(timeline).values():
            order = oracle.replay(order, commands)
        return order

    def check_timeline(self, timeline, arrivals, size, max_previous=None):
        """Compare the events, rejects and commands of a timeline with the oracle, after every batch."""
        arrivals = sorted(arrivals, key=lambda a: (a.arrival, a.event))
        beforehand = refusals(arrivals, max_previous)
        known, verdicts = admit(arrivals, beforehand)
        accepted = [a for a, verdict in zip(arrivals, verdicts, strict=True) if verdict is None]
        expected = rows_of(known, accepted)
        found = self.rows(timeline)
        assert [{name: row[name] for name in expected[0]} for row in found] == expected
        refused = Counter((a.event, v) for a, v in zip(arrivals, verdicts, strict=True) if v is not None)
        # A malformed line is not an arrival, but may name the timeline.
        rejects = [row for row in self.rejects.get(timeline, []) if row["reason"] != "malformed"]
        assert Counter((row["event_id"], row["reason"]) for row in rejects) == refused

        scripts = self.scripts(timeline)
        self.check_stats(timeline, accepted, [len(commands) for commands in scripts.values()])
        order = []
        for batch, count in enumerate(range(size, len(arrivals) + size, size), start=1):
            wanted = oracle.converged(admit(arrivals[:count], beforehand[:count])[0])
            commands = scripts.pop(batch, [])
            assert len(commands) == oracle.fewest_commands(order, wanted), (timeline, batch)
            order = oracle.replay(order, commands)
            assert order == wanted, (timeline, batch)
        assert not scripts

    def check_stats(self, timeline, accepted, counts):
        """Compare a timeline's row of `timeline_stats` with its events and the number of commands per script."""
        [stats] = self.stats[timeline]
        assert stats["event_count"] == len(accepted)
        assert stats["author_count"] == len({a.author for a in accepted} - {None})
        assert stats["rank_count"] == 1 + max(row["rank"] for row in self.events[timeline])
        assert stats["edit_count"] == sum(counts)
        assert stats["edits_per_event"] == pytest.approx(sum(counts) / len(accepted))
        assert [stats["edits_p50"], stats["edits_p95"], stats["edits_p99"]] == pytest.approx(
            np.percentile(counts, [50, 95, 99]).tolist()
        )
        assert stats["edits_max"] == max(counts)


def grouped(rows):
    groups = {}
    for row in rows:
        groups.setdefault(row["timeline_id"], []).append(row)
    return groups
