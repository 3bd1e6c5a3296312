"""A first build, on a machine without compiled kernels."""

import os
import subprocess

import pytest

from bench.command import dbt_command
from dbt_tangles.kernel_runtime.compiled import TIER


def build_fixtures(folder, tier, *selected):
    """Build the tables of the fixtures in a separate process; return the names of the kernels that it compiled."""
    environ = {name: value for name, value in os.environ.items() if name != TIER}
    environ |= {
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "TANGLES_WAREHOUSE": str(folder / "warehouse"),
        TIER: tier,
    }
    words = ["build", "--quiet", *selected, "--exclude-resource-type", "test", "unit_test"]
    command = dbt_command(words, "sail", folder / "target", folder / "logs", {})
    subprocess.run(command, env=environ, cwd=folder, check=True, timeout=900, stdout=subprocess.DEVNULL)
    return sorted({file.name.partition("-")[0] for file in folder.rglob("*.nbc")})


@pytest.mark.sail
@pytest.mark.long
def test_the_fixtures_need_no_compiler(tmp_path):
    assert build_fixtures(tmp_path, "auto") == []


@pytest.mark.sail
@pytest.mark.long
def test_compiled_kernels_are_noticed(tmp_path):
    found = build_fixtures(tmp_path, "compiled", "--select", "+int_tangle_levels")
    assert "topological_generations.member_depths" in found
