"""Reads the latest runs from the table `runs`, and the results of dbt's last command from run_results.json."""

import fcntl
import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from dbt_tangles.cli.page import truncate
from dbt_tangles.cli.tables import CommandError, Tables
from dbt_tangles.queries import query

_LONGEST = 200
_BAD = ("error", "fail", "runtime error", "partial success")
_TESTS = ("test", "unit test")
#: Only the nodes of this package count; a project that installs it has others.
_PACKAGE = "tangles"
#: The folder in a warehouse to which `tangles build` writes the files of dbt: parsed project, results and log.
OWN_FOLDER = ".tangles"
#: The heading of a dbt message; its next line states the problem.
_HEADING = re.compile(r"\w+( \w+)? Error in .*")


def last_runs(tables: Tables) -> list[dict]:
    """Return the latest 10 runs, the last first.

    `tables` is the number of tables whose rows a run was the last to change, `current_tables` the number of those that
    it was the last to build or to find unchanged. A run that ended without noting its end has the status `interrupted`.
    """
    rows = tables.rows(query("runs"))
    if any(row["status"] == "running" for row in rows) and not is_building(tables):
        for row in rows:
            row["status"] = "interrupted" if row["status"] == "running" else row["status"]
    for row in rows:
        row["vars"] = {name: json.loads(value) for name, value in json.loads(row["vars"] or "{}").items()}
        row["inputs"] = row["inputs"] or []
    return rows


def is_building(tables: Tables) -> bool:
    """Whether a process builds tables in the warehouse: it then holds the lock of the warehouse."""
    try:
        with (tables.folder.parent / ".lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # Without a lock file no process builds.
        return False
    return False


def own_target(warehouse: Path) -> Path:
    """Return the target folder of `tangles build` in a warehouse."""
    return warehouse / OWN_FOLDER / "target"


def latest_results(targets: Iterable[Path], runs: list[dict]) -> dict | None:
    """Read the results of dbt from target folders: those of the latest of `runs`, else the newest."""
    found = [results for target in targets if (results := results_of(target))]
    ids = [run["run_id"] for run in runs]
    rank = {id_: len(ids) - n for n, id_ in enumerate(ids)}
    return max(found, key=lambda results: (rank.get(results["run_id"], 0), results["at"]), default=None)


def results_of(target: Path) -> dict | None:
    """Read the results of dbt's last command about this package from its target folder, if there are any.

    Returns:
        `counts`, the number of tests by status; `failed`, the tests that failed or warned; `broken`, all nodes that
        failed, models before tests, each with the first line of its message; `skipped`, the number of skipped nodes.
    """
    path = target / "run_results.json"
    try:
        artifact = json.loads(path.read_text())
        nodes = [_node(row) for row in artifact["results"] if row["unique_id"].split(".")[1] == _PACKAGE]
        tests = [row for row in nodes if row["kind"] in _TESTS]
        failed = [row for row in tests if row["status"] in ("fail", "error", "warn")]
        broken = sorted((row for row in nodes if row["status"] in _BAD), key=lambda row: row["kind"] in _TESTS)
        return {
            "file": str(path),
            "run_id": artifact["metadata"]["invocation_id"],
            "at": artifact["metadata"]["generated_at"],
            "counts": dict(Counter(row["status"] for row in tests)),
            "failed": [{name: row[name] for name in ("name", "status", "failures")} for row in failed],
            "broken": [{name: row[name] for name in ("kind", "name", "status", "message")} for row in broken],
            "skipped": sum(row["status"] == "skipped" for row in nodes),
        }
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise CommandError(
            f"{path}: cannot be read as dbt's results ({error!r}); --target-path names the folder that dbt writes to"
        ) from error


def _node(row: dict) -> dict:
    """Read the result of a node: a test's name has no digest, and the message is the line that states the problem."""
    kind, _, *names = row["unique_id"].split(".")
    lines = [line.strip() for line in (row.get("message") or "").splitlines() if line.strip()]
    first = lines[:2] if lines and _HEADING.fullmatch(lines[0]) else lines[:1]
    return {
        "kind": kind.replace("_", " "),
        "name": names[0] if kind == "test" else ".".join(names),
        "status": row["status"],
        "failures": row.get("failures"),
        "message": truncate(first[-1], _LONGEST) if first else "",
    }
