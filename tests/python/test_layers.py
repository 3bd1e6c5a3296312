"""Each package of kernels and formats imports only the packages below it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dbt_tangles

SOURCE = Path(dbt_tangles.__file__).parent
#: The packages below each one; modules outside of packages belong to all layers.
BELOW = {
    "kernel_runtime": set(),
    "columns": {"kernel_runtime"},
    "algorithms": {"columns", "kernel_runtime"},
    "ingest": {"kernel_runtime"},
    "formats": {"columns", "ingest", "kernel_runtime"},
}


def imported(path: Path) -> Iterator[str]:
    """List the packages of this distribution that a module imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for package, *rest in (name.split(".") for name in names):
            if package == "dbt_tangles" and rest and (SOURCE / rest[0]).is_dir():
                yield rest[0]


@pytest.mark.parametrize("package", BELOW)
def test_a_package_imports_those_below_it(package):
    upward = {
        f"{path.relative_to(SOURCE)} imports {other}"
        for path in (SOURCE / package).rglob("*.py")
        for other in imported(path)
        if other not in BELOW[package] | {package}
    }
    assert not upward
