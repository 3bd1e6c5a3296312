"""The project in integration_tests/, which installs this one, with changes."""

import shutil
from pathlib import Path

import yaml

from conftest import ROOT, DbtProject
from dbt_projects import with_packages, write

HERE = ROOT / "integration_tests"


def integrating(folder: Path, change=lambda settings: None, models: dict[str, str] | None = None) -> Path:
    """Copy the project and install its packages.

    Args:
        folder: Where.
        change: A function that changes the contents of dbt_project.yml.
        models: Texts of more models by file name.
    """
    shutil.copytree(HERE, folder, ignore=shutil.ignore_patterns("dbt_packages", "target", "logs", "warehouse"))
    settings = yaml.safe_load((HERE / "dbt_project.yml").read_text())
    change(settings)
    write(folder / "dbt_project.yml", settings)
    packages = (HERE / "packages.yml").read_text()
    (folder / "packages.yml").write_text(packages.replace("local: ../", f"local: {ROOT}"))
    for name, text in (models or {}).items():
        (folder / "models" / name).write_text(text)
    return with_packages(folder)


def installed_in(project: DbtProject, schema: str) -> DbtProject:
    """Return the same build, read from another of its schemas."""
    return DbtProject(project.warehouse, f"{project.schema}_{schema}")
