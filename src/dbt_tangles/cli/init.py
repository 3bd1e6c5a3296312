"""`tangles init`: writes a new dbt project that installs this one as a local package."""

import re
import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from string import Template

import click
import yaml

from dbt_tangles.cli.suggest import examples

HERE = Path(__file__).parent.parent
STARTER = HERE / "starter"

#: The example log, in this dbt project.
EXAMPLE = "tests/data/ssb/small.jsonl"

#: Files and folders of this dbt project that a new project starts with: their paths here and there.
COPIED = {
    EXAMPLE: "example.jsonl",
    "docs/notebook.ipynb": "notebook.ipynb",
    "docs/queries": "queries",
}

#: In a new project, the link to the installed dbt project. Git ignores it; `tangles init .` makes it again.
LINK = ".tangles"

#: Entries that a folder for a new project may already have.
_UNNOTICED = {".git", ".venv"}

#: The first lines of the profile of a new project, which has one target of this project's profile.
_PROFILE = f"""\
# The target of the installed engine. {LINK}/profiles.yml has the other targets: set
# DBT_PROFILES_DIR={LINK} and TANGLES_TARGET=NAME, or copy one to this file.
"""

#: Engine: its target in profiles.yml, and its distribution. The first installed one is the default.
ENGINES = {"sail": ("sail", "pysail"), "spark": ("local", "pyspark")}


def project_folder() -> Path:
    """Return the folder of the dbt project: inside the installed package, or the checkout that contains the package."""
    installed = HERE / "project"
    return installed if installed.is_dir() else HERE.parents[1]


def version() -> str:
    """Return the version of the dbt project, which equals the package's."""
    return yaml.safe_load((project_folder() / "dbt_project.yml").read_text())["version"]


def project_name(folder: Path) -> str:
    """Turn a folder's name into a valid dbt project name other than `tangles`."""
    name = re.sub(r"\W+", "_", folder.absolute().name.lower(), flags=re.ASCII).strip("_")
    return f"my_{name}".rstrip("_") if name in ("", "tangles") or name[0].isdigit() else name


def installed_target() -> str | None:
    """Return the target of profiles.yml for the installed engine, if any."""
    return next((target for target, package in ENGINES.values() if is_installed(package)), None)


def is_installed(name: str) -> bool:
    """Whether a distribution is installed."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def make_project(folder: Path) -> list[str]:
    """Write a new project into a new or empty folder, and return the names of its files."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: name a new or an empty folder")
    held = sorted(path.name for path in folder.iterdir() if path.name not in _UNNOTICED) if folder.exists() else []
    if held:
        shown = ", ".join(held[:3]) + (", …" if held[3:] else "")
        raise ValueError(f"{folder} is not empty ({shown}): name a new or an empty folder")
    folder.mkdir(parents=True, exist_ok=True)
    make_link(folder)
    values = {"name": project_name(folder)}
    for path in sorted(path for path in STARTER.rglob("*") if path.is_file()):
        place = folder / path.relative_to(STARTER)
        place = place.with_name(".gitignore") if place.name == "gitignore" else place
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(Template(path.read_text()).safe_substitute(values))
    for source, name in COPIED.items():
        path = project_folder() / source
        (shutil.copytree if path.is_dir() else shutil.copyfile)(path, folder / name)
    target = installed_target() or "local"
    targets = (project_folder() / "profiles.yml").read_text()
    settings = re.search(rf"^    {target}:\n(?: {{6}}.*\n)+", targets, re.MULTILINE)
    (folder / "profiles.yml").write_text(f"{_PROFILE}tangles:\n  target: {target}\n  outputs:\n{settings[0]}")
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def make_link(folder: Path) -> Path:
    """Link a project to the installed dbt project, replacing an older link, and return the path of the link."""
    link = folder / LINK
    if link.exists() and not link.is_symlink():
        raise ValueError(f"{link} is not a link: move it away; the link to tangles takes its place")
    link.unlink(missing_ok=True)
    link.symlink_to(project_folder(), target_is_directory=True)
    return link


@click.command("init", epilog=examples("init forum", "init ."))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Make a new dbt project in DIR that installs tangles: settings, an example log and a model to start from.

    DIR is a new or an empty folder. In a clone of such a project, or where Python is in another folder now, the command
    renews the link .tangles to the installed package. It works offline.
    """
    try:
        if (folder / "dbt_project.yml").is_file():
            click.echo(f"{make_link(folder)} links to {project_folder()}. Next: dbt deps")
            return
        make_project(folder)
    except (OSError, ValueError) as error:
        said = f"{folder}: {error.strerror}" if isinstance(error, OSError) else str(error)
        raise click.UsageError(said) from None
    engines = {
        "local": "with Spark",
        "sail": "with Sail",
        None: "once an engine is installed: pip install 'dbt-tangles[sail]' or 'dbt-tangles[spark]'",
    }
    click.echo(f"{folder} is a dbt project that installs tangles {version()} and reads example.jsonl. Next:\n")
    click.echo(f"  cd {folder}")
    click.echo("  dbt deps        # links tangles into it")
    click.echo(f"  dbt build       # builds every table, {engines[installed_target()]}")
    click.echo("  tangles status\n")
    click.echo("To read your own log, set `ssb_log` in dbt_project.yml.")
