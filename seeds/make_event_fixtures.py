"""Write the seeds below `seeds/events/`: logs of small timelines, and what each must come to.

Source: ScuttleSort 2022-05-09. The document shows its timelines in figures; each is published here as a small log of
the same shape. What it must come to stands beside it, stated by the document or worked out by hand: nothing of that
is computed.

    python seeds/make_event_fixtures.py           # write the seeds
    python seeds/make_event_fixtures.py --check   # exit 1 where the seeds differ from what would be written

How to read a timeline:

* `arrivals`: a line per arrival, numbered from 1: the event, its author, why it is refused, and what it lists.
* `rows`: a line per event that is in: its rank, its position, whether it is a tip, and its causes that are not in.
* `edits`: commands of the shortest scripts, one script an arrival: an `ins`, and a `mov` for each event that cannot
  stay.
"""

from __future__ import annotations

import hashlib
import json
import sys
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

import seed_files
from seed_files import read_words

ROOT = Path(__file__).resolve().parent.parent
SEEDS = ROOT / "seeds" / "events"


@dataclass
class Timeline:
    """One timeline; the module's text says how to read it."""

    name: str
    arrivals: str
    rows: str
    events: int
    authors: int
    ranks: int
    edits: int


# Section 1.1: events from four feeds. a_049 and c_046 are concurrent and of one rank; c_046 comes in last, and the
# document's instruction is to insert it between a_049 and a_050. c_045 is more recent than d_046. The figure is a part
# of something larger, its ranks lie around 91.
#
# Every event arrives after its causes, so that each is one `ins`.
FIGURE_2 = Timeline(
    "figure_2",
    arrivals="""
        event  author  refused  after
        a_048  a       -        -
        b_047  b       -        -
        c_044  c       -        -
        d_045  d       -        -
        d_046  d       -        d_045 c_044
        b_048  b       -        b_047 a_048
        c_045  c       -        c_044 d_046
        d_047  d       -        d_046
        a_049  a       -        a_048 c_045
        a_050  a       -        a_049
        b_049  b       -        b_048 a_050
        c_046  c       -        c_045 b_048
    """,
    rows="""
        event  rank  position  tip    missing
        a_048  0     0         false  -
        b_047  0     1         false  -
        c_044  0     2         false  -
        d_045  0     3         false  -
        b_048  1     4         false  -
        d_046  1     5         false  -
        c_045  2     6         false  -
        d_047  2     7         true   -
        a_049  3     8         false  -
        c_046  3     9         true   -
        a_050  4     10        false  -
        b_049  5     11        true   -
    """,
    events=12,
    authors=4,
    ranks=6,
    edits=12,
)

# Section 2: the sets {D,E}{B,C}{A}{F}, here with the effects arriving first.
#
# A, F, C, E and B are one `ins` each: [A], [A F], [C A F], [C E A F], [C E B A F]. D lifts C from rank 0 to 1:
# [D E B C A F] is an `ins`, and C, which goes behind E and B, a `mov`.
FIGURE_3 = Timeline(
    "figure_3",
    arrivals="""
        event  author  refused  after
        A      -       -        B C
        F      -       -        A
        C      -       -        D
        E      -       -        -
        B      -       -        D E
        D      -       -        -
    """,
    rows="""
        event  rank  position  tip    missing
        D      0     0         false  -
        E      0     1         false  -
        B      1     2         false  -
        C      1     3         false  -
        A      2     4         false  -
        F      3     5         true   -
    """,
    events=6,
    authors=0,
    ranks=4,
    edits=7,
)

# Section 2.3: the chain d_020, b_020, d_021 is tight, c_019 and a_022 have room above them. Section 2.4: they are
# dragged to the lowest rank possible, although they arrive last and what follows them is far up.
#
# The effects that wait for c_019 and a_022 have their rank from d_021 already: nothing ever moves.
FIGURE_6 = Timeline(
    "figure_6",
    arrivals="""
        event  author  refused  after
        d_019  d       -        -
        d_020  d       -        d_019
        b_020  b       -        d_020
        d_021  d       -        d_020 b_020
        c_018  c       -        -
        a_021  a       -        -
        c_020  c       -        c_019 d_021
        a_023  a       -        a_022 d_021
        c_019  c       -        c_018
        a_022  a       -        a_021 c_018
    """,
    rows="""
        event  rank  position  tip    missing
        a_021  0     0         false  -
        c_018  0     1         false  -
        d_019  0     2         false  -
        a_022  1     3         false  -
        c_019  1     4         false  -
        d_020  1     5         false  -
        b_020  2     6         false  -
        d_021  3     7         false  -
        a_023  4     8         true   -
        c_020  4     9         true   -
    """,
    events=10,
    authors=4,
    ranks=5,
    edits=10,
)

# Section 3: logs A and C refer to x of log B, which is not there yet. The chain 5 6 7 starts earlier than a b c until x
# turns out to follow c. That lifts 5 6 7, which lifts v w of a fourth log.
#
# Ten arrivals are one `ins` each and come to [5 a u 6 b 7 c v d w]. With x it is [a u b c x 5 d 6 7 v w]. Of the ten,
# at most six keep their order (a u b c v w): x is an `ins`, and 5, d, 6 and 7 are `mov`s.
FIGURE_7 = Timeline(
    "figure_7",
    arrivals="""
        event  author  refused  after
        a      C       -        -
        b      C       -        a
        c      C       -        b
        d      C       -        c x
        5      A       -        x
        6      A       -        5
        7      A       -        6
        u      D       -        -
        v      D       -        u 6
        w      D       -        v
        x      B       -        c
    """,
    rows="""
        event  rank  position  tip    missing
        a      0     0         false  -
        u      0     1         false  -
        b      1     2         false  -
        c      2     3         false  -
        x      3     4         false  -
        5      4     5         false  -
        d      4     6         true   -
        6      5     7         false  -
        7      6     8         true   -
        v      6     9         false  -
        w      7     10        true   -
    """,
    events=11,
    authors=4,
    ranks=8,
    edits=15,
)

# Section 2.4: an insertion and moves of the same event come to one insertion. The document's algorithm puts z beside r
# and then moves it past m and n; here as there one `ins` remains. k0 lifts k1 and k2, by one move each in the end.
#
# Six arrivals are one `ins` each and come to [k1 r k2 m n z]; [r m n z k0 k1 k2] is an `ins` and two `mov`s.
OPTIMISER = Timeline(
    "optimiser",
    arrivals="""
        event  author  refused  after
        r      o       -        -
        m      o       -        r
        n      o       -        r
        z      o       -        r
        k1     o       -        k0
        k2     o       -        k1
        k0     o       -        z
    """,
    rows="""
        event  rank  position  tip    missing
        r      0     0         false  -
        m      1     1         true   -
        n      1     2         true   -
        z      1     3         false  -
        k0     2     4         false  -
        k1     3     5         false  -
        k2     4     6         true   -
    """,
    events=7,
    authors=1,
    ranks=5,
    edits=9,
)

# Causes that never arrive count nothing. Listing a cause twice is listing it, and listing oneself is listing nothing.
#
# self and twice rise from rank 0 to 1 when lone arrives, which changes no order: each arrival is one `ins`.
MISSING = Timeline(
    "missing",
    arrivals="""
        event       author  refused  after
        twice       p       -        lone lone
        self        -       -        self lone
        lone        q       -        gone
        both        -       -        lost lone gone
        only_self   -       -        only_self
        gone_twice  -       -        gone gone
    """,
    rows="""
        event       rank  position  tip    missing
        gone_twice  0     0         true   gone
        lone        0     1         false  gone
        only_self   0     2         true   -
        both        1     3         true   gone lost
        self        1     4         true   -
        twice       1     5         true   -
    """,
    events=6,
    authors=2,
    ranks=2,
    edits=6,
)

# Section 5: a log eliminates duplicates; where a line repeats an event, with the same causes or others, the first
# arrival stays. What the others list is not even missing.
DUPLICATES = Timeline(
    "duplicates",
    arrivals="""
        event   author  refused    after
        first   x       -          -
        second  y       -          first
        second  y       duplicate  first
        second  z       duplicate  third absent
        third   x       -          second
        first   z       duplicate  third
    """,
    rows="""
        event   rank  position  tip    missing
        first   0     0         false  -
        second  1     1         false  -
        third   2     2         true   -
    """,
    events=3,
    authors=2,
    ranks=3,
    edits=3,
)

# Section 2.1 reports a cycle when an edge closes it. Here the event that brings the edge is refused and leaves no
# trace: t goes without s until s comes again and lists nothing that follows it; v and x go without w for good.
#
# The first six that get in are one `ins` each: [p], [p q], [p q r], [p q r t], [p q r t u], [p y q r t u]. s lifts p
# over y, as an `ins` and a `mov`: [s y p q r t u]. v and x are one `ins` each.
CYCLES = Timeline(
    "cycles",
    arrivals="""
        event  author  refused  after
        p      one     -        s
        q      one     -        p
        r      one     -        q
        s      other   cycle    r
        t      one     -        r s
        u      one     -        t
        y      one     -        -
        s      other   cycle    y u
        s      one     -        -
        v      one     -        w
        w      other   cycle    v
        x      one     -        w
    """,
    rows="""
        event  rank  position  tip    missing
        s      0     0         false  -
        v      0     1         true   w
        x      0     2         true   w
        y      0     3         true   -
        p      1     4         false  -
        q      2     5         false  -
        r      3     6         false  -
        t      4     7         false  -
        u      5     8         true   -
    """,
    events=9,
    authors=1,
    ranks=6,
    edits=10,
)

TIMELINES = [FIGURE_2, FIGURE_3, FIGURE_6, FIGURE_7, OPTIMISER, MISSING, DUPLICATES, CYCLES]

# Lines that are no events. They name timelines from above, whose tables must not change.
MALFORMED = [
    b"",
    b"  \t",
    b"\0",
    b"a line of something else",
    b"\xff\xfe",
    b"null",
    b"[]",
    b'"figure_3"',
    b"{}",
    b'{"timeline":"figure_3"',
    b'{"event":"G","after":["F"],"arrival":7}',
    b'{"timeline":"figure_3","after":["F"],"arrival":7}',
    b'{"timeline":"figure_3","event":"G","arrival":7}',
    b'{"timeline":"figure_3","event":"G","after":["F"]}',
    b'{"timeline":"","event":"G","after":["F"],"arrival":7}',
    b'{"timeline":"figure_3","event":7,"after":["F"],"arrival":7}',
    b'{"timeline":"figure_3","event":"G","after":"F","arrival":7}',
    b'{"timeline":"figure_3","event":"G","after":null,"arrival":7}',
    b'{"timeline":"figure_3","event":"G","after":["F",null],"arrival":7}',
    b'{"timeline":"figure_3","event":"G","after":["F",""],"arrival":7}',
    b'{"timeline":"figure_3","event":"G","after":["F"],"arrival":"7"}',
    b'{"timeline":"figure_3","event":"G","after":["F"],"arrival":7.5}',
    b'{"timeline":"figure_3","event":"G","after":["F"],"arrival":true}',
    b'{"timeline":"figure_3","event":"G","after":["F"],"arrival":9223372036854775808}',
    b'{"timeline":"figure_3","event":"G","after":["F"],"author":7,"arrival":7}',
    b'{"timeline":"figure_3","event":"\\ud800","after":["F"],"arrival":7}',
    b'{"timeline":"figure_3","event":"G","after":[' + b"[" * 2000 + b"]" * 2000 + b'],"arrival":7}',
]


def _lines() -> list[tuple[bytes, str]]:
    """Return each arrival's line and why it is refused, shuffled: it is not by its place that a line arrives."""
    lines = []
    for timeline in TIMELINES:
        for arrival, row in enumerate(read_words(timeline.arrivals), start=1):
            line = {"timeline": timeline.name, "event": row["event"], "after": row["after"].split()}
            if row["author"]:
                line["author"] = row["author"]
            lines.append((json.dumps(line | {"arrival": arrival}).encode(), row["refused"]))
    return sorted(lines, key=lambda line: hashlib.sha256(line[0]).digest())


HEADERS = {
    "event_fixture_log": "source_file line raw_base64",
    "expected_timeline_events": "timeline_id event_id rank position is_tip",
    "expected_timeline_missing_causes": "timeline_id event_id missing_cause",
    "expected_timeline_rejects": "source_file line reason",
    "expected_timeline_counts": "timeline_id event_count author_count rank_count edit_count",
}


def make_tables() -> dict[str, list[list]]:
    """Return the rows of each seed, by its name."""
    tables: dict[str, list[list]] = {name: [] for name in HEADERS}
    files = {"timelines.jsonl": _lines(), "malformed.jsonl": [(line, "malformed") for line in MALFORMED]}
    for file, lines in files.items():
        for number, (line, refused) in enumerate(lines, start=1):
            tables["event_fixture_log"].append([file, number, b64encode(line).decode()])
            if refused:
                tables["expected_timeline_rejects"].append([file, number, refused])
    for t in TIMELINES:
        for row in read_words(t.rows):
            place = [t.name, row["event"]]
            tables["expected_timeline_events"].append([*place, row["rank"], row["position"], row["tip"]])
            tables["expected_timeline_missing_causes"] += [[*place, cause] for cause in row["missing"].split()]
        tables["expected_timeline_counts"].append([t.name, t.events, t.authors, t.ranks, t.edits])
    return tables


def main(argv: list[str] | None = None) -> int:
    """Write the seeds, or compare them with what is there."""
    return seed_files.main(SEEDS, HEADERS, make_tables, argv)


if __name__ == "__main__":
    sys.exit(main())
