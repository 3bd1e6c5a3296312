"""Reports which packages a worker's Python lacks.

The module is pickled by value (in `workers.py`) and runs on workers without this package, so it imports only the
standard library.
"""

import importlib
import json
import re
import socket
import sys
from collections.abc import Sequence
from importlib import metadata


def look(names: Sequence[str], row: int = 0) -> str:
    """Report the faults of distributions on this worker.

    Args:
        names: The names of the distributions.
        row: The argument that Spark passes; it is ignored.

    Returns:
        JSON: `host`, `python` and `faults`, a text for each distribution that is missing or cannot be imported.
    """
    faults = {name: fault for name in names if (fault := fault_of(name))}
    return json.dumps({"host": socket.gethostname(), "python": sys.executable, "faults": faults})


def fault_of(name: str) -> str | None:
    """Return why a distribution cannot be used, if that is so."""
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return "not installed"
    for module in modules_of(found):
        try:
            importlib.import_module(module)
        except Exception as error:  # built for another platform, or a dependency is missing
            return f"cannot be imported: {type(error).__name__}: {error}"
    return None


def modules_of(found: metadata.Distribution) -> list[str]:
    """Return the top-level module with the name of a distribution, from its declared modules or its file list."""
    listed = (found.read_text("top_level.txt") or "").split()
    files = {file.parts[0].partition(".")[0] for file in found.files or [] if file.suffix in (".py", ".so", ".pyd")}
    said = {module for module in listed or files if module.isidentifier() and not module.startswith("_")}
    name = re.sub(r"[-_.]+", "_", found.metadata["Name"]).lower()
    return [name] if name in said else sorted(said)[:1]
