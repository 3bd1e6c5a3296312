"""`tangles init`: a new dbt project that installs this one, without git."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from string import Template

import click
import yaml

HERE = Path(__file__).parent
STARTER = HERE / "starter"

#: Of the dbt project, what a new project begins with: where it is, and what it is called there.
COPIED = {"profiles.yml": "profiles.yml", "tests/data/ssb/small.jsonl": "example.jsonl"}

#: What may be in a folder already.
_UNNOTICED = {".git", ".venv"}


def project_folder() -> Path:
    """Say where the dbt project is: in the installed package, or around it where it is installed from a checkout."""
    installed = HERE / "project"
    return installed if installed.is_dir() else HERE.parents[1]


def version() -> str:
    """The version of the dbt project, which is the package's."""
    return yaml.safe_load((project_folder() / "dbt_project.yml").read_text())["version"]


def project_name(folder: Path) -> str:
    """Make a name that dbt takes, and that is not the package's, of a folder's."""
    name = re.sub(r"\W+", "_", folder.absolute().name.lower(), flags=re.ASCII).strip("_")
    return f"my_{name}".rstrip("_") if name in ("", "tangles") or name[0].isdigit() else name


def make_project(folder: Path) -> list[str]:
    """Write a new project.

    Args:
        folder: Where: one that is not there, or holds nothing.

    Returns:
        The names of its files.

    Raises:
        ValueError: There is something else.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: name a folder that is not there yet, or an empty one")
    held = sorted(path.name for path in folder.iterdir() if path.name not in _UNNOTICED) if folder.exists() else []
    if held:
        listed = ", ".join(held[:3]) + (", …" if held[3:] else "")
        raise ValueError(f"{folder} is not empty ({listed}): name a folder that is not there yet, or an empty one")
    place = f'{{{{ env_var("TANGLES_PROJECT", {json.dumps(str(project_folder()))}) }}}}'.replace("'", "''")
    values = {"name": project_name(folder), "place": f"'{place}'"}
    for path in sorted(path for path in STARTER.rglob("*") if path.is_file()):
        place = folder / path.relative_to(STARTER)
        place = place.with_name(".gitignore") if place.name == "gitignore" else place
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(Template(path.read_text()).safe_substitute(values))
    for source, name in COPIED.items():
        shutil.copyfile(project_folder() / source, folder / name)
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@click.command("init")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path), required=False)
@click.option("--where", is_flag=True, help="Only say where the dbt project is that came with this command.")
def command(folder: Path | None, where: bool) -> None:
    """Make a new dbt project in DIR that installs tangles: settings, an example log, and a model of your own.

    DIR is a folder that is not there yet, or an empty one. Nothing is downloaded.
    """
    if where:
        click.echo(project_folder())
        return
    if folder is None:
        raise click.UsageError("name the folder of the new project: tangles init DIR")
    try:
        make_project(folder)
    except (OSError, ValueError) as error:
        said = f"{folder}: {error.strerror}" if isinstance(error, OSError) else str(error)
        raise click.UsageError(said) from None
    click.echo(f"{folder} is a dbt project that installs tangles {version()} and reads example.jsonl. Next:\n")
    click.echo(f"  cd {folder}")
    click.echo("  dbt deps        # links tangles into it")
    click.echo("  dbt build       # builds every table; TANGLES_TARGET=sail builds without a JVM")
    click.echo("  tangles status\n")
    click.echo("Your own log: `ssb_log` in dbt_project.yml.")
