"""Reports which packages a worker's Python lacks.

The module is pickled by value and runs on workers without this package, so it imports only the standard library.
"""

import importlib
import json
import re
import socket
import sys
from collections.abc import Sequence
from importlib import metadata


def look(names: Sequence[str], row: int = 0) -> str:
    """Report as JSON `host`, `python` and `faults`: a text for each distribution that cannot be used on this worker.

    Spark passes the number of a row, which is ignored.
    """
    faults = {name: fault for name in names if (fault := _fault_of(name))}
    return json.dumps({"host": socket.gethostname(), "python": sys.executable, "faults": faults})


def _fault_of(name: str) -> str | None:
    try:
        for module in _modules_of(metadata.distribution(name)):
            importlib.import_module(module)
    except metadata.PackageNotFoundError:
        return "not installed"
    except Exception as error:  # built for another platform, or a dependency is missing
        return f"cannot be imported: {type(error).__name__}: {error}"
    return None


def _modules_of(found: metadata.Distribution) -> list[str]:
    """Return the top-level module with the name of a distribution, from its declared modules or its file list."""
    listed = (found.read_text("top_level.txt") or "").split()
    files = {file.parts[0].partition(".")[0] for file in found.files or [] if file.suffix in (".py", ".so", ".pyd")}
    said = {module for module in listed or files if module.isidentifier() and not module.startswith("_")}
    name = re.sub(r"[-_.]+", "_", found.metadata["Name"]).lower()
    return [name] if name in said else sorted(said)[:1]
