"""Show a chat in the terminal, and update it whenever `tangles follow` has brought a new publication.

Usage: python chat.py FILE TIMELINE [--last N] [--once]

The client knows nothing of tangles: it reads the view `positions` and the table `events` of an SQLite file.
"""

import argparse
import contextlib
import json
import sqlite3
import time
from collections.abc import Iterator
from datetime import datetime, timezone

LINES = """
    select position, author, sent_at, content
    from positions left join events using (timeline_id, event_id)
    where timeline_id = :timeline
    order by position desc
    limit :last
"""
PUBLICATION = "select publication from timelines where timeline_id = :timeline"


def printable(text: object) -> str:
    """Replace control characters, because messages are written by strangers."""
    return "".join(c if c.isprintable() else " " for c in str(text))


def text_of(content: str | None) -> str:
    """Return the text of a message; empty for messages of other shapes."""
    try:
        said = json.loads(content or "{}")
    except ValueError:
        return ""
    text = said.get("text", "") if isinstance(said, dict) else ""
    return text if isinstance(text, str) else ""


def lines_of(connection: sqlite3.Connection, timeline: str, last: int) -> Iterator[str]:
    """Write the last messages of a timeline, oldest first, each with its place in the timeline."""
    rows = connection.execute(LINES, {"timeline": timeline, "last": last}).fetchall()
    for position, author, sent_at, content in reversed(rows):
        is_date = sent_at is not None and 0 <= sent_at < 4e12
        when = f"{datetime.fromtimestamp(sent_at / 1000, timezone.utc):%Y-%m-%d %H:%M}" if is_date else "-"
        yield f"{position:>6}  {when:<16}  {printable(author or '?')[:8]:<8}  {printable(text_of(content))[:100]}"


def main() -> None:
    """Show the chat until interrupted."""
    parser = argparse.ArgumentParser(description="Show a timeline that `tangles follow` keeps in an SQLite file.")
    parser.add_argument("file")
    parser.add_argument("timeline")
    parser.add_argument("--last", type=int, default=20, help="number of messages, 20 by default")
    parser.add_argument("--once", action="store_true", help="show the chat once, without waiting for changes")
    chosen = parser.parse_args()
    connection = sqlite3.connect(f"file:{chosen.file}?mode=ro", uri=True)
    shown = None
    while True:
        found = connection.execute(PUBLICATION, {"timeline": chosen.timeline}).fetchone()
        if found is None:
            raise SystemExit(f"{chosen.file}: no timeline {printable(chosen.timeline)}; run `tangles follow` first")
        if found != shown:
            shown = found
            print("\033[2J\033[H" if not chosen.once else "", end="")
            print(*lines_of(connection, chosen.timeline, chosen.last), sep="\n", flush=True)
        if chosen.once:
            return
        time.sleep(0.5)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
