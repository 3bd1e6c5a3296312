"""CPU seconds and peak memory of this process and all its descendants, from /proc.

A local Spark session is a tree of processes: this one, the JVM below it, and below that the daemon that forks Python
workers. The daemon ignores the death of its workers, so the kernel's counters for ended children lose the CPU time of
the workers; Spark ends idle workers after a minute. Therefore the tree is read twice a second, and the last values of
an ended process are kept, less the part that its parent reports.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

INTERVAL = 0.5  # seconds between two readings
KINDS = ("driver", "jvm", "workers")

_PR_SET_CHILD_SUBREAPER = 36

#: A process: its number and its start time, because numbers are reused.
Key = tuple[int, int]


@dataclass(frozen=True)
class Process:
    """A process as /proc describes it."""

    parent: int  # The number of its parent
    command: str  # The name of its program
    own: float  # CPU seconds of its threads, ended ones included
    reaped: float = 0.0  # CPU seconds of the ended children that it waited for, and of theirs
    resident: int = 0  # Memory in bytes
    peak: int = 0  # The peak of its memory in bytes


def processes(proc: Path = Path("/proc")) -> dict[Key, Process]:
    """Read all processes of the machine.

    Raises:
        RuntimeError: The system is not Linux.
    """
    if not (proc / "self" / "stat").exists():
        raise RuntimeError(
            f"CPU seconds of a tree of processes need /proc, which {sys.platform} lacks: run the benchmarks on Linux"
        )
    tick = os.sysconf("SC_CLK_TCK")
    found = {}
    for entry in proc.iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):  # it has ended in the meantime
            # The program's name stands in parentheses and may hold any character.
            start, _, rest = (entry / "stat").read_text(errors="replace").rpartition(")")
            fields = rest.split()
            memory = _status(entry)
            found[int(entry.name), int(fields[19])] = Process(
                parent=int(fields[1]),
                command=start.partition("(")[2],
                own=(int(fields[11]) + int(fields[12])) / tick,
                reaped=(int(fields[13]) + int(fields[14])) / tick,
                resident=_bytes(memory.get("VmRSS")),
                peak=_bytes(memory.get("VmHWM")),
            )
    return found


def peak_mib() -> int:
    """Return the peak memory of this process in MiB; `getrusage` would include the parent's at the start."""
    return _bytes(_status(Path("/proc/self")).get("VmHWM")) >> 20


def _status(process: Path) -> dict[str, str]:
    return dict(line.split(":", 1) for line in (process / "status").read_text(errors="replace").splitlines())


def _bytes(text: str | None) -> int:
    return int(text.split()[0]) * 1024 if text else 0


class Account:
    """The sums over a tree of processes, from repeated readings.

    The kinds are `jvm`, `workers` below a JVM, and `driver` for all other processes.
    """

    def __init__(self, root: int) -> None:
        """Keep the account of the process with number `root` and its descendants."""
        self.root = root
        self.peak: Counter[str] = Counter()
        self.peak_resident = 0
        self._known: dict[Key, Process] = {}
        self._kind: dict[Key, str] = {}
        self._parent: dict[Key, Key] = {}
        self._gone: Counter[str] = Counter()
        self._counted: defaultdict[Key, float] = defaultdict(
            float
        )  # the part of `reaped` that was read before the child ended

    def add(self, seen: dict[Key, Process]) -> None:
        """Add a reading of the machine's processes."""
        number = {key[0]: key for key in seen}
        tree = {key: seen[key] for key in seen if self._is_below(key, seen, number)}
        self._settle(tree)
        for key in tree:
            parent = number.get(seen[key].parent)
            if parent in tree and key[0] != self.root:
                self._parent[key] = parent
        for key in sorted(tree, key=lambda key: key[1]):  # parents first
            kind = self._kind[key] = self._kind_of(key, tree[key])
            self.peak[kind] = max(self.peak[kind], tree[key].peak)
        self._known = tree
        self.peak_resident = max(self.peak_resident, sum(process.resident for process in tree.values()))

    def cpu(self) -> dict[str, float]:
        """Return CPU seconds by kind, those of ended processes included."""
        seconds = Counter(self._gone)
        for key, process in self._known.items():
            seconds[self._kind[key]] += process.own + process.reaped - self._counted[key]
        return {kind: seconds[kind] for kind in KINDS}

    def _is_below(self, key: Key, seen: dict[Key, Process], number: dict[int, Key]) -> bool:
        passed = set()
        while key is not None and key not in passed:
            if key[0] == self.root or key in self._known:  # a known process stays, whatever its parent is now
                return True
            passed.add(key)
            key = number.get(seen[key].parent)
        return False

    def _kind_of(self, key: Key, process: Process) -> str:
        parent = self._kind.get(self._parent.get(key), "driver")
        if parent != "driver" or self._kind.get(key) == "workers":
            return "workers"
        # Before it becomes a JVM, a process is a copy of its parent or a shell.
        return "jvm" if process.command == "java" else self._kind.get(key, "driver")

    def _settle(self, tree: dict[Key, Process]) -> None:
        """Keep the CPU time of ended processes, and determine how much of it their ancestors will report again."""
        told: Counter[Key] = Counter()
        for key in self._known.keys() - tree.keys():
            ended = self._known[key]
            self._gone[self._kind[key]] += ended.own + ended.reaped - self._counted.pop(key, 0.0)
            heir = self._parent.get(key)
            while heir is not None and heir not in tree:
                heir = self._parent.get(heir)
            if heir is not None:
                told[heir] += ended.own + ended.reaped
        for heir, seconds in told.items():
            grown = tree[heir].reaped - self._known[heir].reaped
            self._counted[heir] += min(seconds, grown)


@dataclass
class Spent:
    """The cost of a piece of work."""

    wall: float = 0.0  # Seconds on the clock
    cpu: dict[str, float] = field(default_factory=dict)  # CPU seconds by kind of process

    @property
    def total(self) -> float:
        """CPU seconds of all processes."""
        return sum(self.cpu.values())


class Watch:
    """Context manager: watches this process and its descendants."""

    def __init__(self, interval: float = INTERVAL) -> None:
        """Prepare to read every `interval` seconds."""
        self._account = Account(os.getpid())
        self._interval = interval
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="cpu-watch", daemon=True)

    def __enter__(self) -> Watch:
        self.look()
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def look(self) -> None:
        """Read the processes now."""
        with self._lock:
            self._account.add(processes())

    def cpu(self) -> dict[str, float]:
        """Return CPU seconds by kind of process, up to now."""
        self.look()
        with self._lock:
            return self._account.cpu()

    def peaks(self) -> dict[str, float]:
        """Return peaks in MiB: of one process of each kind, and as `all` of all processes together."""
        self.look()
        with self._lock:
            peaks = {**{kind: self._account.peak[kind] for kind in KINDS}, "all": self._account.peak_resident}
        return {kind: round(size / 2**20) for kind, size in peaks.items()}

    @contextmanager
    def measure(self) -> Iterator[Spent]:
        """Measure the work within; the result is filled in at its end."""
        spent = Spent()
        before, began = self.cpu(), time.monotonic()
        try:
            yield spent
        finally:
            spent.wall = time.monotonic() - began
            after = self.cpu()
            spent.cpu = {kind: after[kind] - before[kind] for kind in KINDS}

    def _run(self) -> None:
        while not self._done.wait(self._interval):
            self.look()


def adopt_orphans() -> None:
    """Make this process the parent of orphaned descendants: a JVM outlives the dbt that started it."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for_orphans() -> None:
    """Wait for all children to end."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
