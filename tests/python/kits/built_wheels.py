"""Builds the two wheels, and makes environments that have them."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from conftest import ROOT

#: Distribution: the folder of its pyproject.toml.
DISTRIBUTIONS = {"dbt_spark_python": ROOT / "plugin", "dbt_tangles": ROOT}


def build(folder: Path) -> dict[str, Path]:
    """Build the wheels into a folder, by distribution; with what is installed here, and no network."""
    for place in DISTRIBUTIONS.values():
        said(["-m", "hatchling", "build", "--target", "wheel", "--directory", folder], cwd=place)
    return {name: next(folder.glob(f"{name}-*.whl")) for name in DISTRIBUTIONS}


def environment(folder: Path, wheels: dict[str, Path]) -> Path:
    """Make an environment that has the wheels, and otherwise what is installed here but these two; its interpreter."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    said(["-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", *wheels.values()])
    (packages,) = folder.glob("lib/python*/site-packages")
    # Packages of a folder that is named here are found; what is said there of editable ones is not read.
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    dbt = folder / "bin" / "dbt"
    dbt.write_text(f"#!{python}\nfrom dbt.cli.main import cli\n\ncli()\n")
    dbt.chmod(0o755)
    return python


def said(arguments: list, cwd: Path | None = None, program: Path | str = sys.executable, **variables: str) -> str:
    """Run a program as a user does, without what pytest sets; what it prints."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("TANGLES_", "PYTHON", "SPARK_"))}
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
