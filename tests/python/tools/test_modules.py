"""Test modules stand alone and are short: shared code is in the kits."""

import ast

from conftest import ROOT

MODULES = [path for folder in ("tests/python", "plugin/tests") for path in (ROOT / folder).rglob("*.py")]
LONGEST = 500


def imported(text: str) -> set[str]:
    """The last parts of the names of all modules that a source imports."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(alias.name for alias in node.names)} if node.level else {node.module}
    return {name.rpartition(".")[2] for name in found}


def test_imports_are_found():
    assert imported("import a.b\nfrom c.d import e\nfrom . import f") >= {"b", "d", "f"}


def test_no_module_imports_a_test_module():
    tests = {path.stem for path in MODULES if path.stem.startswith("test_")}
    assert len(tests) > 100
    assert [path for path in MODULES if imported(path.read_text()) & tests] == []


def test_modules_are_short():
    assert [path for path in MODULES if len(path.read_text().splitlines()) > LONGEST] == []
