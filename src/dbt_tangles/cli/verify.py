"""`tangles status --verify`: compares the bytes of every table file with the digests in the table's manifest."""

import shlex
from pathlib import Path

from dbt_tangles.cli import text
from dbt_tangles.cli.page import STRONG, Page
from dbt_tangles.cli.tables import CommandError, Tables

_TRIES = 20


def verify(tables: Tables) -> dict:
    """Read all bytes of all tables and compare them with the digests in their manifests.

    Returns:
        `tables`, `files` and `bytes`, the numbers of each; `damaged`, for each damaged file its `table`, `file` and
        `fault`; `unknown`, the tables whose manifests have no digests.

    Raises:
        CommandError: Builds replaced a table during each of 20 attempts to read it.
    """
    damaged, unknown, files, size = [], [], 0, 0
    folders = tables.folders()
    for folder in folders:
        found, facts = _compare_bytes(folder)
        files, size = files + len(facts), size + sum(max(length, 0) for length, _ in facts.values())
        if found is None:
            unknown.append(folder.name)
        for name, fault in sorted((found or {}).items()):
            damaged.append({"table": folder.name, "file": str(folder / name), "fault": fault})
    return {"tables": len(folders), "files": files, "bytes": size, "damaged": damaged, "unknown": unknown}


def _compare_bytes(folder: Path) -> tuple[dict[str, str] | None, dict[str, list[int]]]:
    # Imported here, because these modules load slowly.
    from dbt_spark_python.table_store import manifest
    from dbt_spark_python.table_store.integrity import find_altered, list_files

    for _ in range(_TRIES):
        noted = manifest.read(folder)
        try:
            files = list_files(folder)
            found = find_altered(folder, noted)
        except FileNotFoundError:
            continue
        if manifest.read(folder) == noted:  # otherwise a build replaced the table meanwhile
            return found, files
    raise CommandError(f"{folder}: a build keeps replacing the table; run the command again after the build")


def write(page: Page, answer: dict) -> None:
    """Print the answer of `--verify` alone."""
    page.line((answer["tables"], STRONG))
    text.write(page, "verify", answer)


def rebuild_command(damaged: list[dict]) -> str:
    """Write the command that rebuilds damaged tables, and all tables that depend on them."""
    return shlex.join(["dbt", "build", "--full-refresh", "--select", *sorted({f"{row['table']}+" for row in damaged})])
