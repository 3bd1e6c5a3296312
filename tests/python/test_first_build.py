"""A first build, on a machine without compiled kernels."""

import os
import subprocess
import sys

import pytest

from conftest import ROOT
from dbt_tangles.kernel_runtime.compiled import TIER


def build_fixtures(folder, tier):
    """Build the tables of the fixtures in a separate process; return the names of the kernels that it compiled."""
    environ = {name: value for name, value in os.environ.items() if name != TIER}
    environ |= {
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "TANGLES_WAREHOUSE": str(folder / "warehouse"),
        "TANGLES_TARGET": "sail",
        TIER: tier,
    }
    command = [sys.executable, "-m", "dbt.cli.main", "build", "--quiet", "--project-dir", str(ROOT)]
    command += ["--profiles-dir", str(ROOT), "--exclude-resource-type", "test", "unit_test"]
    command += ["--target-path", str(folder / "target"), "--log-path", str(folder / "logs")]
    subprocess.run(command, env=environ, cwd=folder, check=True, timeout=900, stdout=subprocess.DEVNULL)
    return sorted({file.name.partition("-")[0] for file in folder.rglob("*.nbc")})


@pytest.mark.sail
@pytest.mark.long
def test_the_fixtures_need_no_compiler(tmp_path):
    assert build_fixtures(tmp_path, "auto") == []


@pytest.mark.sail
@pytest.mark.long
def test_compiled_kernels_are_noticed(tmp_path):
    assert "topological_generations.member_depths" in build_fixtures(tmp_path, "compiled")
