"""Readers of real histories: each returns the events of one history, causes first."""

import json
import re
import subprocess
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

_COMMIT = "%H%x00%P%x00%ct%x00%an"
_AUTHOR = re.compile(r"\[[0-9:]*\] (?:<([^>]*)>|\* (\S*))")


class Event(NamedTuple):
    """An event: its id, the ids of its causes, its time (an integer that grows), and its author's name."""

    id: str
    causes: list[str]
    time: int
    author: str


def read_commits(repository: Path) -> list[Event]:
    """Read the commits of a git repository that HEAD follows; the time is the commit time in Unix seconds.

    Git converts names from the encoding of their commit to UTF-8, whatever encoding its settings ask for. Bytes that
    are not UTF-8 even so become U+FFFD.

    Raises:
        ValueError: Git cannot read the repository.
    """
    command = ["git", "-C", str(repository), "-c", "i18n.logOutputEncoding=UTF-8", "log", "--encoding=UTF-8"]
    command += ["--topo-order", "--reverse", f"--format={_COMMIT}", "HEAD"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise ValueError(f"git cannot read the history of {repository}: {said}. Name the folder of a repository")
    commits = []
    for line in done.stdout.decode(errors="replace").split("\n")[:-1]:
        id_, parents, time, author = line.split("\0")
        commits.append(Event(id_, parents.split(), int(time), author))
    return commits


def read_room(path: Path) -> list[Event]:
    """Read the events of a Matrix room, one JSON object with `prev_events` a line, as federation sends them.

    Rooms of the first versions name a previous event by a pair of its id and hashes. The time is that of the sender's
    server, in milliseconds.

    Raises:
        ValueError: A line is not such an object, or the links form a cycle.
    """
    events = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        try:
            value = json.loads(line)
            causes = [each if isinstance(each, str) else each[0] for each in value["prev_events"]]
            events[value["event_id"]] = Event(value["event_id"], causes, value["origin_server_ts"], value["sender"])
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise ValueError(
                f"{path}:{number}: not an event of a room ({error!r}). Name a file of JSON lines"
            ) from None
    return _causes_first(events, path)


def read_channel(folder: Path) -> list[Event]:
    """Read IRC logs with annotated replies: for each `NAME.annotation.txt`, the log `NAME.ascii.txt`.

    A line `A B -` of an annotation says that message B answers message A; messages are the lines of the log, from 0.
    The annotated messages are the events. The time is the number of the log, in the order of the names, then the line.

    Raises:
        ValueError: The folder lacks annotations, or an annotation names a line that its log lacks.
    """
    files = sorted(folder.glob("*.annotation.txt"))
    if not files:
        raise ValueError(f"{folder} has no file *.annotation.txt. Name a folder of annotated IRC logs")
    events = {}
    for number, file in enumerate(files):
        name = file.name.removesuffix(".annotation.txt")
        lines = file.with_name(f"{name}.ascii.txt").read_text("utf-8", errors="replace").split("\n")
        links = [sorted(map(int, line.split()[:2])) for line in file.read_text("utf-8").splitlines()]
        for place in sorted({place for link in links for place in link}):
            if place >= len(lines):
                raise ValueError(f"{file} names line {place}, but the log has {len(lines)} lines. Fetch the log again")
            written = _AUTHOR.match(lines[place])
            causes = [f"{name}:{first}" for first, second in links if second == place and first != place]
            author = (written[1] or written[2] or "") if written else ""
            events[f"{name}:{place}"] = Event(f"{name}:{place}", causes, number << 32 | place, author)
    return _causes_first(events, folder)


def _causes_first(events: dict[str, Event], path: Path) -> list[Event]:
    """Order events topologically."""
    by_time = sorted(events.values(), key=lambda event: (event.time, event.id))
    try:
        order = list(TopologicalSorter({event.id: event.causes for event in by_time}).static_order())
    except CycleError as error:
        raise ValueError(f"{path}: events are causes of each other: {error.args[1]}. Fetch the history again") from None
    return [events[id_] for id_ in order if id_ in events]


READERS = {"git": read_commits, "matrix": read_room, "irc": read_channel}
