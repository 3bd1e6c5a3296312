"""Which runs built the tables, from which logs, and what dbt's tests said."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from dbt_tangles.cli.page import short
from dbt_tangles.cli.tables import AskError, Tables

_MOST, _LONGEST = 10, 200
_BAD = ("error", "fail", "runtime error", "partial success")
_TESTS = ("test", "unit_test")
#: How dbt begins a message, which has what is wrong in its next line.
_HEADING = re.compile(r"\w+( \w+)? Error in .*")


def last_runs(tables: Tables) -> list[dict]:
    """Return the latest runs, the last first; `tables` says how many tables are of it."""
    rows = tables.rows(
        f"""select run_id, status, is_full, project_version, len(tables) as tables,
            strftime(make_timestamp(epoch_us(started_at)), '%Y-%m-%d %H:%M:%S') as started_at,
            strftime(make_timestamp(epoch_us(finished_at)), '%Y-%m-%d %H:%M:%S') as finished_at,
            round((epoch_us(finished_at) - epoch_us(started_at)) / 1e6, 1) as seconds, inputs, to_json(vars) as vars
        from {{runs}} as r order by r.started_at desc limit {_MOST}"""
    )
    for row in rows:
        row["vars"] = {name: json.loads(value) for name, value in json.loads(row["vars"] or "{}").items()}
        row["inputs"] = row["inputs"] or []
    return rows


def results_of(target: Path) -> dict | None:
    """Read what dbt's last command left: how its tests ended, and which nodes failed; None where it left no results.

    Returns:
        `counts` of its tests by status, `failed`: its tests that failed or warned, and `broken`: all nodes that failed,
        models before tests, each with the first line of its message.

    Raises:
        AskError: There is something else in that file's place.
    """
    path = target / "run_results.json"
    try:
        artifact = json.loads(path.read_text())
        tests = [row for row in artifact["results"] if row["unique_id"].partition(".")[0] in _TESTS]
        failed = [
            {"name": _name(row["unique_id"]), "status": row["status"], "failures": row.get("failures")}
            for row in tests
            if row["status"] in ("fail", "error", "warn")
        ]
        bad = [row for row in artifact["results"] if row["status"] in _BAD]
        broken = [
            {
                "kind": (kind := row["unique_id"].partition(".")[0]).replace("_", " "),
                "name": _name(row["unique_id"]) if kind in _TESTS else row["unique_id"].split(".", 2)[-1],
                "status": row["status"],
                "message": _first_line(row.get("message")),
            }
            for row in bad
        ]
        return {
            "file": str(path),
            "run_id": artifact["metadata"]["invocation_id"],
            "at": artifact["metadata"]["generated_at"],
            "counts": dict(Counter(row["status"] for row in tests)),
            "failed": failed,
            "broken": sorted(broken, key=lambda row: row["kind"].endswith("test")),
            "skipped": sum(row["status"] == "skipped" for row in artifact["results"]),
        }
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise AskError(f"{path}: cannot be read as the results of dbt's tests: {error!r}") from error


def _first_line(message: str | None) -> str:
    """The line of a message that says what is wrong."""
    lines = [line.strip() for line in (message or "").splitlines() if line.strip()]
    first = lines[:2] if lines and _HEADING.fullmatch(lines[0]) else lines[:1]
    return short(first[-1], _LONGEST) if first else ""


def _name(unique_id: str) -> str:
    """Name a test; a unit test by its model too, where a test ends in a digest."""
    kind, _, *names = unique_id.split(".")
    return ".".join(names) if kind == "unit_test" else names[0]
