"""The place of files: each kind has its folder, and paths are built in one way."""

import ast
import re

import yaml

from conftest import ROOT

MODELS = [path for folder in ("models", "python_models") for path in (ROOT / folder).rglob("*.*")]
#: The packages that each package may import.
BELOW = {
    "kernel_runtime": set(),
    "columns": {"kernel_runtime"},
    "algorithms": {"columns", "kernel_runtime"},
    "ingest": {"kernel_runtime"},
    "formats": {"columns", "ingest", "kernel_runtime"},
}
YMLS = {path: yaml.safe_load(path.read_text()) for path in MODELS if path.suffix == ".yml"}


def test_every_model_has_a_yml_of_its_own():
    described = {
        (path.parent, path.stem): [model["name"] for model in y["models"]] for path, y in YMLS.items() if "models" in y
    }
    assert described == {(path.parent, path.stem): [path.stem] for path in MODELS if path.suffix in (".sql", ".py")}
    assert sorted(path.name for path, y in YMLS.items() if "models" not in y) == ["_exposures.yml", "_groups.yml"]


def test_shipped_code_imports_only_shipped_code():
    """Shipped code imports only shipped code: workers get `src`, without the code that signs test data."""
    for path in (ROOT / "src").rglob("*.py"):
        assert not any(line.startswith(("import fixtures", "from fixtures")) for line in path.read_text().splitlines())


def test_packages_import_those_below_them():
    """Algorithms and formats are independent of each other; models join them."""
    for package, below in BELOW.items():
        for path in (ROOT / "src" / "dbt_tangles" / package).rglob("*.py"):
            imported = re.findall(r"^\s*(?:from|import) dbt_tangles\.(\w+)", path.read_text(), re.M)
            assert {*imported} <= below | {package, "reasons"}, path


def test_modules_are_short_and_import_no_test():
    """Code that several test modules share is a kit, so that each module runs alone."""
    for path in [each for folder in ("tests/python", "plugin/tests") for each in (ROOT / folder).rglob("*.py")]:
        lines = path.read_text().splitlines()
        assert [line for line in lines if re.match(r"\s*(import|from) \.?(test_|\w+\.test_)", line)] == [], path.name
        assert len(lines) <= 500, path.name


def test_functions_are_short():
    """Functions have at most 60 lines and 7 parameters; more arrays than that are named tuples."""
    found = []
    for folder in ("src", "plugin", "bench", "fixtures", "python_models", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef):
                    given = node.args
                    parameters = len([*given.posonlyargs, *given.args, *given.kwonlyargs])
                    if node.end_lineno - node.lineno >= 60 or parameters > 7:
                        found.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert found == []
