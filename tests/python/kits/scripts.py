"""Loads scripts that are in no package, such as those of docs/."""

import importlib.util
from types import ModuleType

from conftest import ROOT


def load(path: str) -> ModuleType:
    """Load a script as a module; the path is relative to the repository."""
    spec = importlib.util.spec_from_file_location(path.rpartition("/")[2].removesuffix(".py"), ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
