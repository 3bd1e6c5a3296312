"""The contracts of the public tables, kept in a file and compared with the project.

        python docs/reference/contracts.py        # writes docs/reference/contracts.yml, when a version is released

It reads target/manifest.json, which any dbt command writes.
"""

import json
import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
CONTRACTS = ROOT / "docs" / "reference" / "contracts.yml"

#: A table's columns and their types.
Columns = dict[str, str]

_HEAD = """\
# The public tables as readers know them: columns and types. `python docs/reference/contracts.py` writes this file when
# a version is released; what a test says of a difference is in docs/how-to/upgrade.md.
"""


def contracts_of(manifest: dict[str, Any]) -> dict[str, list[Columns]]:
    """Read the contracts of the public tables of this project: by name, those of every version of the model."""
    found: dict[str, list[Columns]] = {}
    # The versions of a model may come in any order; put the latest last.
    for node in sorted(manifest["nodes"].values(), key=lambda node: node.get("version") == node.get("latest_version")):
        if node["resource_type"] == "model" and node["access"] == "public" and node["package_name"] == "tangles":
            columns = {name: column["data_type"] for name, column in node["columns"].items()}
            found.setdefault(node["name"], []).append(columns)
    return found


def unannounced(kept: dict[str, Columns], found: dict[str, list[Columns]], changes: str) -> list[str]:
    """List the changes that the changelog does not announce to readers of the kept contracts.

    A row of a table of the changelog, `| `table.column` | `table.column` |`, announces that the first column is renamed
    to the second one, or has another type if both are the same.

    Args:
        kept: The contracts of the last release.
        found: The contracts of the project.
        changes: The changelog's section on the next release.

    Returns:
        A line for each column that every version of its table has dropped or changed, unless a row of the changelog
        names its present column, and for each new table and column that the changelog does not name.
    """
    said = set(re.findall(r"`([\w.]+)`", changes))
    renamed = dict(re.findall(r"^\| `([\w.]+)` \| `([\w.]+)`", changes, flags=re.M))
    lines = []
    for name, columns in kept.items():
        versions = found.get(name, [])
        if not any(columns.items() <= version.items() for version in versions):
            newest = versions[-1] if versions else {}
            present = {f"{name}.{column}" for column in newest}
            lost = [
                column
                for column, kind in columns.items()
                if newest.get(column) != kind and renamed.get(f"{name}.{column}") not in present
            ]
            if lost:
                lines.append(
                    f"{name}: {', '.join(lost)}: gone or of another type, and no version of the model has it as it was"
                )
    for name, versions in found.items():
        known = kept.get(name)
        if known is None and name not in said:
            lines.append(f"{name}: a new table that CHANGELOG.md does not name")
        new = dict.fromkeys(column for version in versions for column in version if column not in (known or version))
        lines += [
            f"{name}.{column}: a new column that CHANGELOG.md does not name"
            for column in new
            if f"{name}.{column}" not in said
        ]
    return lines


def read() -> dict[str, Columns]:
    """Read the contracts of the last release."""
    return yaml.safe_load(CONTRACTS.read_text())


def write(found: dict[str, list[Columns]]) -> None:
    """Write contracts to the file, those of the newest version of each model."""
    kept = {name: versions[-1] for name, versions in sorted(found.items())}
    CONTRACTS.write_text(_HEAD + yaml.safe_dump(kept, sort_keys=False))


if __name__ == "__main__":
    write(contracts_of(json.loads((ROOT / "target" / "manifest.json").read_text())))
    print(f"wrote {CONTRACTS.relative_to(ROOT)}")
