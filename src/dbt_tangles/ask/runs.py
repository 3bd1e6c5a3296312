"""Which runs built the tables, from which logs, and what dbt's tests said."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from dbt_tangles.ask.tables import AskError, Tables

_MOST = 10


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


def results_of_tests(target: Path) -> dict | None:
    """Read what the tests of dbt's last command said; None where it left nothing.

    Raises:
        AskError: There is something else in that file's place.
    """
    path = target / "run_results.json"
    try:
        artifact = json.loads(path.read_text())
        tests = [row for row in artifact["results"] if row["unique_id"].startswith(("test.", "unit_test."))]
        failed = [
            {"name": _name(row["unique_id"]), "status": row["status"], "failures": row.get("failures")}
            for row in tests
            if row["status"] in ("fail", "error", "warn")
        ]
        return {
            "file": str(path),
            "run_id": artifact["metadata"]["invocation_id"],
            "at": artifact["metadata"]["generated_at"],
            "counts": dict(Counter(row["status"] for row in tests)),
            "failed": failed,
        }
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise AskError(f"{path}: cannot be read as the results of dbt's tests: {error!r}") from error


def _name(unique_id: str) -> str:
    """Name a test; a unit test by its model too, where a test ends in a digest."""
    kind, _, *names = unique_id.split(".")
    return ".".join(names) if kind == "unit_test" else names[0]
