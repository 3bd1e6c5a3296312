"""What a worker's Python has of the packages that models need.

It is pickled by value (`workers.py` sees to that) and runs where this package may be missing, and all others too:
nothing but the standard library is imported here.
"""

from __future__ import annotations

import importlib
import json
import re
import socket
import sys
from collections.abc import Sequence
from importlib import metadata


def look(names: Sequence[str], row: int = 0) -> str:
    """Say what is wrong with distributions here.

    Args:
        names: Their names.
        row: What Spark calls a function for; it does not matter.

    Returns:
        JSON: `host`, `python` and `faults`, a text for each name that is not there or cannot be imported.
    """
    faults = {name: fault for name in names if (fault := fault_of(name))}
    return json.dumps({"host": socket.gethostname(), "python": sys.executable, "faults": faults})


def fault_of(name: str) -> str | None:
    """What keeps a distribution from being of use; None if nothing does."""
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return "not installed"
    for module in modules_of(found):
        try:
            importlib.import_module(module)
        except Exception as error:  # of another platform, or without what it needs itself
            return f"cannot be imported: {type(error).__name__}: {error}"
    return None


def modules_of(found: metadata.Distribution) -> list[str]:
    """The modules at the top of a distribution that it is named after; by its list of files where it says none."""
    listed = (found.read_text("top_level.txt") or "").split()
    files = {file.parts[0].partition(".")[0] for file in found.files or [] if file.suffix in (".py", ".so", ".pyd")}
    said = {module for module in listed or files if module.isidentifier() and not module.startswith("_")}
    name = re.sub(r"[-_.]+", "_", found.metadata["Name"]).lower()
    return [name] if name in said else sorted(said)[:1]
