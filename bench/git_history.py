"""Git histories as event logs: commits are the events, parents the causes, and the commit time gives the arrival.

    python -m bench.git_history path/to/repository --out log.jsonl
    python -m bench.git_history path/to/repository --out log.jsonl --timeline git --arrival topological

The lines suit the var `event_log`. Only the ids of commits and parents, the names of authors and the order of arrival
are read, from the commits that HEAD follows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.events import Timelines
from dbt_tangles.kernel_runtime.compiled import compiled

ARRIVALS = ("time", "topological", "shuffled")
_FORMAT = "%H%x00%P%x00%ct%x00%an"


class Commit(NamedTuple):
    """A commit: its id, the ids of its parents, its commit time in Unix seconds, and its author's name."""

    id: str
    parents: list[str]
    time: int
    author: str


def read_commits(repository: Path) -> list[Commit]:
    """Read the commits of a repository that HEAD follows, parents first.

    Raises:
        RuntimeError: Git cannot read the repository.
    """
    command = ["git", "-C", str(repository), "log", "--topo-order", "--reverse", f"--format={_FORMAT}", "HEAD"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"git cannot read the history of {repository}: {said}. Name the folder of a repository")
    commits = []
    for line in done.stdout.decode(errors="replace").split("\n")[:-1]:
        id_, parents, time, author = line.split("\0")
        commits.append(Commit(id_, parents.split(), int(time), author))
    return commits


def arrive(commits: list[Commit], arrival: str, seed: int = 1) -> np.ndarray:
    """Put commits in an order of arrival.

    Args:
        commits: As `read_commits` returns them.
        arrival: `time` (commit time, then id), `topological` (parents first) or `shuffled`.
        seed: The seed of a shuffled arrival.

    Returns:
        int64[commits], the commit that arrives at each place.
    """
    if arrival == "shuffled":
        return np.random.default_rng(seed).permutation(len(commits))
    if arrival == "time":
        return np.array(sorted(range(len(commits)), key=lambda i: (commits[i].time, commits[i].id)), np.int64)
    return np.arange(len(commits))


def timelines_of(commits: list[Commit], arrived: np.ndarray) -> Timelines:
    """Return a history in the form that the kernels take; the first parent comes first. Absent parents are left out."""
    names = sorted(commit.id for commit in commits)
    number = {id_: n for n, id_ in enumerate(names)}
    by_number = sorted(commits)
    lists = [[number[parent] for parent in commit.parents if parent in number] for commit in by_number]
    start = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    cause = np.array([parent for each in lists for parent in each], np.int32)
    whole = np.array([0, len(commits)])
    events = np.array([number[commit.id] for commit in commits], np.int32)
    return Timelines(whole, start, cause, whole, events[arrived])


def json_lines(commits: list[Commit], arrived: np.ndarray, timeline: str) -> Iterator[bytes]:
    """Yield the lines of an event log, in the order of arrival."""
    for place, i in enumerate(arrived.tolist(), start=1):
        id_, parents, _, author = commits[i]
        line = {"timeline": timeline, "event": id_, "after": parents, "author": author, "arrival": place}
        yield json.dumps(line, ensure_ascii=False).encode() + b"\n"


@compiled
def count_shape(cause_start, cause):
    """Count the events of a history with several effects, with several causes, with more than two, and without effects.

    Args:
        cause_start: int64[events + 1], into the causes.
        cause: int32[...].

    Returns:
        The numbers of forks, merges, merges of more than two causes, and tips.
    """
    events = len(cause_start) - 1
    effects = np.zeros(events, np.int64)
    merges, wide, forks, tips = 0, 0, 0, 0
    for c in cause:
        effects[c] += 1
    for x in range(events):
        count = cause_start[x + 1] - cause_start[x]
        merges += count > 1
        wide += count > 2
        forks += effects[x] > 1
        tips += effects[x] == 0
    return forks, merges, wide, tips


def main(argv: list[str] | None = None) -> None:
    """Write a history as an event log."""
    parser = argparse.ArgumentParser(description="Write the history of a git repository as an event log.")
    parser.add_argument("repository", type=Path, help="the folder of a repository, also of a bare one")
    parser.add_argument("--out", type=Path, required=True, help="the file")
    parser.add_argument("--timeline", default="git", help="the name of the timeline (default git)")
    parser.add_argument("--arrival", choices=ARRIVALS, default="time", help="the order of arrival (default time)")
    chosen = parser.parse_args(argv)
    try:
        commits = read_commits(chosen.repository)
    except RuntimeError as error:
        parser.error(str(error))
    with chosen.out.open("wb") as out:
        out.writelines(json_lines(commits, arrive(commits, chosen.arrival), chosen.timeline))


if __name__ == "__main__":
    main()
