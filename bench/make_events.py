"""Write an event log for the var `event_log`: one timeline of ScuttleSort's evaluation, or many small ones.

    python -m bench.make_events --out events.jsonl --events 524288 --feeds 16
    python -m bench.make_events --out many.jsonl.gz --small-timelines 100000

The same arguments always write the same lines.
"""

import argparse
import gzip
from pathlib import Path

import numpy as np

from bench import events


def main(argv: list[str] | None = None) -> None:
    """Write a log."""
    parser = argparse.ArgumentParser(description="Write an event log.")
    parser.add_argument("--out", type=Path, required=True, help="the file; compressed if it ends in .gz")
    parser.add_argument("--events", type=int, default=32_768, help="an even number (default 32768)")
    parser.add_argument("--feeds", type=int, default=16, help="that append all the time (default 16)")
    parser.add_argument("--lurkers", type=int, default=0, help=f"feeds that append {events.LURKS} events in all")
    parser.add_argument("--references", type=int, default=1, help="tips of other feeds that an event lists (default 1)")
    parser.add_argument("--in-order", action="store_true", help="causes arrive first; otherwise feeds at random")
    parser.add_argument("--small-timelines", type=int, metavar="N", help="instead: N timelines of 5 to 20 events")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(argv)
    rng = np.random.default_rng(chosen.seed)
    if chosen.small_timelines:
        made = events.small_timelines(chosen.small_timelines, rng)
    else:
        try:
            log = events.append(chosen.events, chosen.feeds, rng, chosen.references, chosen.lurkers)
        except ValueError as error:
            parser.error(str(error))
        arrived = events.deliver_in_order(log) if chosen.in_order else events.deliver_by_feed(log, rng)
        made = events.named(log, arrived, rng)
    opener = gzip.open if chosen.out.suffix == ".gz" else open
    with opener(chosen.out, "wb") as out:
        out.writelines(events.json_lines(events.arrivals_table(made, rng)))


if __name__ == "__main__":
    main()
