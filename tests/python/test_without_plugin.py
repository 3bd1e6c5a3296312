"""An environment without `pip install`: the plugin is missing, as in a project that installs this one as a package."""

import os
import subprocess
import sys

import pytest

from conftest import ROOT

pytestmark = pytest.mark.spark


def test_the_error_names_the_packages_to_install(tmp_path):
    (tmp_path / "dbt_spark_python").mkdir()
    (tmp_path / "dbt_spark_python" / "__init__.py").write_text("")
    environment = {
        **os.environ,
        "NO_COLOR": "1",
        "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
        "TANGLES_WAREHOUSE": str(tmp_path / "warehouse"),
    }
    places = ["--project-dir", ROOT, "--profiles-dir", ROOT, "--log-path", tmp_path / "logs"]
    places += ["--target-path", tmp_path / "target"]
    done = subprocess.run(
        [sys.executable, "-m", "dbt.cli.main", "run", "--select", "stg_ssb__lines", *places],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode != 0
    assert "pip install 'dbt-tangles[spark]'" in done.stdout
    assert "START python" not in done.stdout
