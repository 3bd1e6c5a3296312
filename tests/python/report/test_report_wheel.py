"""The installed package has all files of a report."""

import os
import subprocess
import sys

import report_story as story
from conftest import ROOT


def run(*command: str, **options) -> str:
    """Run a command and return its output."""
    return subprocess.run([sys.executable, *command], check=True, capture_output=True, text=True, **options).stdout


def test_a_report_of_an_installed_wheel(tmp_path):
    """The report of the installed package has the files of a report of the source tree."""
    run("-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist"), cwd=ROOT)
    (wheel,) = (tmp_path / "dist").iterdir()
    site = tmp_path / "site"
    run("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(site), str(wheel))
    warehouse = story.write(tmp_path / "wh")
    env = {**os.environ, "PYTHONPATH": str(site), "TANGLES_WAREHOUSE": str(warehouse.root)}
    where = "import dbt_tangles.report as r, dbt_tangles.cli as a; print(r.__file__, a.__file__)"
    assert run("-c", where, env=env, cwd=tmp_path).count(f"{site}{os.sep}") == 2
    options = {"env": {**env, "TANGLES_SCHEMA": "tangles"}, "cwd": tmp_path}
    run("-m", "dbt_tangles.cli.cli", "report", "--out", "installed", **options)
    assert warehouse.ask("report", "--out", str(tmp_path / "of_source")).exit_code == 0

    def files(out: str) -> dict[str, bytes]:
        folder = tmp_path / out
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    installed = files("installed")
    assert installed == files("of_source")
    assert {"index.html", "assets/report.js", "assets/report.css", "assets/NOTICE"} <= installed.keys()
