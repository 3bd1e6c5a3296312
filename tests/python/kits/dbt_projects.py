"""Writes dbt projects that install this project, and copies of it with a changed dbt_project.yml."""

from pathlib import Path

import yaml
from dbt.cli.main import dbtRunner

from conftest import ROOT

NOT_COPIED = {"dbt_project.yml", "target", "logs", "warehouse", "dbt_packages"}


def write(path: Path, content: dict) -> None:
    """Write a YAML file."""
    path.write_text(yaml.safe_dump(content, sort_keys=False))


def installing(folder: Path, files: dict[str, str] | None = None, **settings) -> Path:
    """Write a project that installs this one.

    Args:
        folder: The folder of the new project.
        files: The texts of its own models, by file name.
        settings: Further entries of its dbt_project.yml.
    """
    (folder / "models").mkdir(parents=True)
    write(folder / "dbt_project.yml", {"name": "installer", "profile": "tangles", **settings})
    write(folder / "packages.yml", {"packages": [{"local": str(ROOT)}]})
    for name, text in (files or {}).items():
        (folder / "models" / name).write_text(text)
    return with_packages(folder)


def with_packages(folder: Path) -> Path:
    """Install the packages of a project."""
    done = dbtRunner().invoke(
        ["deps", "--project-dir", str(folder), "--profiles-dir", str(ROOT), "--log-path", str(folder / "logs")]
    )
    assert done.success, done.exception
    return folder


def with_vars(folder: Path, **variables) -> Path:
    """Write this project with changed vars in its dbt_project.yml; link all other files."""
    folder.mkdir()
    for path in ROOT.iterdir():
        if path.name not in NOT_COPIED and not path.name.startswith("."):
            (folder / path.name).symlink_to(path)
    content = yaml.safe_load((ROOT / "dbt_project.yml").read_text())
    content["vars"] |= variables
    write(folder / "dbt_project.yml", content)
    return folder
