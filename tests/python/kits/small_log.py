"""One build of the small log and of some events, shared by several tests, with pairs for small tangles alone."""

import json

from conftest import DATA

#: Vars of the build. Some tangles have more members than this, and get clocks in place of pairs.
VARS = {"ssb_log": str(DATA / "ssb" / "small.jsonl"), "ancestor_limit": 4, "clock_limit": 10**6}
#: One timeline has exactly this many events, another has one more.
EVENTS = 5


def events() -> list[bytes]:
    """Print timelines of EVENTS events, of one more, and of a repeated event."""
    events = [
        {"timeline": name, "event": f"{name}{at}", "after": [f"{name}{at - 1}"] if at else [], "arrival": at}
        for name, count in (("short", EVENTS), ("long", EVENTS + 1))
        for at in range(count)
    ]
    events.append(events[0])  # Of a timeline of EVENTS + 1 arrivals, though it has EVENTS events.
    events += [{"timeline": "brief", "event": "a", "after": [], "arrival": 0}] * 2
    return [json.dumps(event).encode() for event in events]
