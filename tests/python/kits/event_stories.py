"""Writes hostile event logs, with the expected result of each line."""

import json
from collections import defaultdict

import hostile_lines
from event_builds import Arrival, admit, refusals, to_line
from hostile_lines import HOSTILE, MAX_LINE_BYTES


class Log(hostile_lines.Log):
    """A folder of files, with the arrivals of each timeline and their places, and the reason of each reject."""

    def __init__(self, folder):
        super().__init__(folder)
        self.arrivals = defaultdict(list)

    def bad(self, reason, *lines, file="log.jsonl"):
        """Add lines without an event, which have one reason for all."""
        super().bad("malformed", *lines, file=file)

    def good(self, timeline, event, after=(), arrival=0, author=None, file="log.jsonl"):
        """Add a line with an event."""
        found = Arrival(timeline, event, list(after), arrival, author)
        self.spell(found, to_line(found), file)

    def spell(self, arrival, line, file="log.jsonl"):
        """Add an event as a given line."""
        self.arrivals[arrival.timeline].append((arrival, self.put(line, file)))

    def judge(self):
        """Let the oracle reject lines of all timelines."""
        for arrivals in self.arrivals.values():
            ordered = sorted(arrivals, key=lambda found: (found[0].arrival, found[0].event))
            lines = [arrival for arrival, _ in ordered]
            verdicts = admit(lines, refusals(lines))[1]
            self.rejects |= {at: verdict for (_, at), verdict in zip(ordered, verdicts, strict=True) if verdict}


def add_malformed(log):
    """Add lines without an event; `events/test_event_check.py` has more of them."""
    hostile_lines.broken(log)
    hostile_lines.random_bytes(log)
    sound = {"timeline": "victim", "event": "e", "after": [], "arrival": 1}
    for name in sound:
        log.bad(f"no {name}", json.dumps({key: value for key, value in sound.items() if key != name}).encode())
    log.bad("too_long", to_line(Arrival("victim", "long", ["x" * 3_000_000], 1)), file="long.jsonl")


def add_odd_names(log):
    """Add names that SQL, Jinja, Python or a printer could interpret, in every place that takes a name."""
    names = list(dict.fromkeys([*filter(None, HOSTILE), "\U00010000", "\U0010ffff", "a\0"]))
    for place, name in enumerate(names):
        log.good("roots", name, arrival=place, author=name)
        log.good("chain", name, names[max(place - 1, 0) : place], arrival=-place)
        log.good(name, name, [f"{name} lost", name], arrival=1, author=name)
        log.good(name, "follower", [name, name], arrival=2, author=name)
        log.good(name, name, [name, f"{name} lost"], arrival=3, author=name)
        log.good("contradictions", name, [name], arrival=place, author=name)
        log.good("contradictions", name, [], arrival=-place, author=name)
        log.good("contradictions", f"{name} of nobody", [name], arrival=place, author=name)
        log.good("contradictions", f"{name} of nobody", [name], arrival=-place)
    log.good("contradictions", "follower", names)


def add_odd_numbers(log):
    """Add arrival numbers at the limits of 64 bits, ties, and cycles that ties decide."""
    for event, arrival in [("last", 2**63 - 1), ("first", -(2**63)), ("zero", 0), ("minus", -1), ("large", 2**53 + 1)]:
        log.good("numbers", event, ["last"], arrival)
    log.good("numbers", "larger", ["zero"], 2**53 + 2)
    log.good("numbers", "larger", ["zero"], 2**53)
    for event, after in [("c", ["d"]), ("a", ["c"]), ("b", []), ("d", ["a"]), ("😀", ["\uffff"]), ("\uffff", ["😀"])]:
        log.good("ties", event, after, 5)
    log.good("ties", "a", ["c"], 6)


def add_odd_lines(log):
    """Add valid lines of unusual form: long, wide, spaced, escaped, with repeated keys."""
    log.good("wide", "root", [f"c{number:06}" for number in range(100_000)])
    log.good("wide", "same", ["root"] * 200_000, 1)
    long = "x" * 500_000
    log.good("long", long, arrival=1)
    log.good("long", long + "y", [long], arrival=2)
    log.good(long, long, [long])
    found = Arrival("padded", "p", [], 1)
    log.spell(found, to_line(found).ljust(MAX_LINE_BYTES), file="long.jsonl")
    log.bad("too_long", to_line(found).ljust(MAX_LINE_BYTES + 1), file="long.jsonl")
    log.good("padded", "q", ["p"], 2, file="long.jsonl")
    log.spell(Arrival("odd", "a", [], 1), b' {"timeline":"odd", "event":"a", "after":[ ], "arrival":1, "x":[[{}]]}\r')
    log.spell(Arrival("odd", "b", ["a"], 2), rb'{"timeline":"\u006fdd","event":"b","after":["\u0061"],"arrival":2}')
    twice = b'{"arrival":7,"event":"no","timeline":7,"timeline":"odd","event":"c","after":["b"],"arrival":3}'
    log.spell(Arrival("odd", "c", ["b"], 3), twice)
    log.spell(Arrival("odd", "d", ["c"], 4), b'{"timeline":"odd","event":"d","after":["c"],"arrival":4,"author":null}')
    log.good("odd", "e", ["d"], 5, author="")


CHAIN = [f"link {number:04}" for number in range(2000)]
DENSE = [f"d{number:03}" for number in range(150)]


def hostile_log(folder, others):
    """Write all hostile lines, and other arrivals; the oracle judges all but large timelines, which have no rejects."""
    log = Log(folder)
    for add in (add_malformed, add_odd_names, add_odd_numbers, add_odd_lines):
        add(log)
    for arrival in others:
        log.spell(arrival, to_line(arrival), "others.jsonl")
    log.judge()
    for name, events, listed in (("newest first", CHAIN, 1), ("dense", DENSE, len(DENSE))):
        # Each arrival raises the ranks of all earlier events: the worst case of a naive algorithm.
        for place, event in enumerate(events):
            log.good(name, event, events[max(place - listed, 0) : place], -place, file="large.jsonl")
    return log
