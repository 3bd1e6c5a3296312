"""A profile of another adapter, as in a project that installs this one without `pip install`."""

import subprocess
import sys

import pytest

from conftest import ROOT

PROFILE = """
tangles:
  target: warehouse
  outputs:
    warehouse: {type: spark, method: session, host: local, schema: tangles}
"""


@pytest.mark.parametrize("command", ["parse", pytest.param("build", marks=pytest.mark.long)])
def test_the_error_names_the_type_and_the_packages(command, tmp_path):
    (tmp_path / "profiles.yml").write_text(PROFILE)
    places = ["--project-dir", ROOT, "--profiles-dir", tmp_path, "--log-path", tmp_path / "logs"]
    done = subprocess.run(
        [sys.executable, "-m", "dbt.cli.main", command, "--target-path", tmp_path / "target", *places],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    said = " ".join(done.stdout.split())
    assert "the target 'warehouse' has the type spark" in said
    assert "pip install 'dbt-tangles[spark]'" in said and "type: sparkpython" in said
    assert "Traceback" not in said + done.stderr
