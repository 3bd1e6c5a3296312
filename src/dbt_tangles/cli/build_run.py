"""Runs dbt on the packaged project in this process, and tells its progress."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from dbt_tangles.cli import init
from dbt_tangles.cli.missing_tables import AREAS
from dbt_tangles.cli.page import Tell, progress_bar, quantity, say, truncate

if TYPE_CHECKING:
    from dbt_common.events.base_types import EventMsg

_MODEL, _TEST = "model", "test"
_BAD = ("error", "fail", "runtime error")
#: dbt's message about a step whose inputs are those of the last run.
_UNCHANGED = "unchanged"
_LONGEST = 300


class Outcome(NamedTuple):
    """The result of a build."""

    is_success: bool  # Whether all steps succeeded
    is_begun: bool  # Whether any step ran
    error: str | None  # The error that ended the build, if one did


def run(variables: dict[str, Any], target: str, own: Path, tests: bool, full_refresh: bool) -> Outcome:
    """Run `dbt build` without unit tests; the files of dbt are in the folder `own`.

    Raises:
        KeyboardInterrupt: The user has interrupted the build; its finished tables stay.
    """
    project = str(init.project_folder())
    places = ["--project-dir", project, "--profiles-dir", project, "--target", target, "--vars", json.dumps(variables)]
    places += ["--target-path", str(own / "target"), "--log-path", str(own / "logs"), "--log-level", "none"]
    places += ["--quiet", "--no-print"]
    logs = [name for name in AREAS if name in variables]
    words = ["build", *places, "--exclude-resource-type", "unit_test"]
    words += [] if tests else ["--exclude-resource-type", "test"]
    words += ["--full-refresh"] if full_refresh else []
    for name in logs:
        say(f"{name} {variables[name]}")
    reading = f"reading the project (engine: {'Spark' if target == 'local' else target})"
    say(reading)
    with progress_bar(reading) as tell:
        # Imported here, because dbt loads slowly.
        from dbt.cli.main import dbtRunner

        parsed = dbtRunner().invoke(["parse", *places])
        if parsed.exception or not parsed.success:
            return Outcome(False, False, _words(parsed.exception))
        progress = Progress(parsed.result, logs, tell)
        done = dbtRunner(manifest=parsed.result, callbacks=[progress]).invoke(words)
    say(progress.end(), is_timed=True)
    if isinstance(done.exception, KeyboardInterrupt):
        raise done.exception
    error = _words(done.exception) if done.exception else None
    return Outcome(bool(done.success), progress.has_begun, error)


def _words(error: BaseException | None) -> str:
    lines = [line.strip() for line in str(error or "dbt failed").splitlines() if line.strip()]
    return truncate(" ".join(lines), _LONGEST * 3)


class Progress:
    """A callback for dbt's events: moves the bar; prints a line for each built area and each failed step."""

    def __init__(self, manifest: Any, logs: Sequence[str], tell: Tell) -> None:
        self._words = {area: words for log in logs for area, words in AREAS[log].items()}
        models = [node for node in manifest.nodes.values() if node.resource_type == _MODEL and node.config.enabled]
        self._left = Counter(_area(node.original_file_path) for node in models)
        self._sizes = dict(self._left)
        self._counts: Counter[str] = Counter()
        self._tell, self._done = tell, 0
        self._lock = threading.Lock()

    def __call__(self, event: EventMsg) -> None:
        """Take one event. dbt calls this in the thread of the event."""
        if event.info.name == "LogStartLine":
            self._tell(event.data.node_info.node_name, self._done, event.data.total)
        if event.info.name != "NodeFinished":
            return
        node = event.data.node_info
        with self._lock:
            kind = node.resource_type
            self._counts[kind] += 1
            self._counts[f"unchanged {kind}"] += event.data.run_result.message == _UNCHANGED
            self._done += 1
            if node.node_status in _BAD:
                self._counts[f"failed {kind}"] += 1
                message = " ".join(event.data.run_result.message.split())
                say(f"  {kind} {node.node_name}: {node.node_status}: {truncate(message, _LONGEST)}")
            area = _area(node.node_path)
            if kind == _MODEL and area in self._left:
                self._left[area] -= 1
                if not self._left[area] and area in self._words:
                    say(f"{self._words[area]}: {quantity(self._sizes[area], 'table{|s}')}", is_timed=True)

    @property
    def has_begun(self) -> bool:
        """Whether any step has ended."""
        return bool(self._counts)

    def end(self) -> str:
        """Return the summary: numbers of tables and tests, of those left as they were, and of failed ones."""
        parts = []
        for kind, word in ((_MODEL, "table"), (_TEST, "test")):
            total = self._counts[kind]
            notes = [
                f"{'all' if (what, n) == ('unchanged', total) else f'{n:,}'} {what}"
                for what in ("unchanged", "failed")
                if (n := self._counts[f"{what} {kind}"])
            ]
            if total:
                parts.append(quantity(total, f"{word}{{|s}}") + (f" ({', '.join(notes)})" if notes else ""))
        return ", ".join(parts) or "no step ran"


def _area(path: str) -> str:
    """Return the folder of a model's file, which names its area."""
    return PurePath(path).parent.name
