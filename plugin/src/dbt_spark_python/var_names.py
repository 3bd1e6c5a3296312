"""Finds misspelt names of vars; dbt itself accepts any name and ignores a misspelt var."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from dbt.config import RuntimeConfig

COMMAND_LINE = "--vars"
PROJECT = "vars:"

# Names with at least this many letters may differ in two letters and still count as near; shorter names in one.
_LONG = 12

# A prefix of this many letters is enough to recognise a name.
_BEGINNING = 6


def find_unknown(
    package: str, known: Collection[str], given: Mapping[str, Mapping[str, Any]], others: Collection[str] | None
) -> list[dict[str, str]]:
    """Find var names that are meant for a package and that the package does not define.

    Args:
        package: The package.
        known: The names that the package defines.
        given: All vars by the place where they are set: `COMMAND_LINE` or `PROJECT`. In the project, a mapping under
            the package's name holds vars for that package alone.
        others: None if the package is the project that runs; then every name is meant for it. Otherwise the names of
            the other packages and of the vars they read. A name is then meant for the package if it is set below the
            package's own name, or if it is near a known name and not in `others`.

    Returns:
        A dictionary for each unknown name: `name`, `place`, and `nearest`, the most similar known name. `nearest` is
            the package's own name if that was used as a scope on the command line, where scopes do not exist.
    """
    found = []
    places = {**given, f"{PROJECT} {package}:": given.get(PROJECT, {}).get(package) or {}}
    for place, names in places.items():
        for name in names if isinstance(names, Mapping) else ():
            if name in known or (name == package and place == PROJECT):
                continue
            nearest = find_nearest(name, [*known, package])
            is_shared = others is not None and place in (COMMAND_LINE, PROJECT)
            if name == package or not is_shared or (name not in others and is_near(name, nearest)):
                found.append({"name": str(name), "place": place, "nearest": nearest})
    return found


def names_of_others(package: str, config: RuntimeConfig, codes: Iterable[str]) -> set[str]:
    """Return the names of the other projects, and of the vars that they set or read.

    Args:
        package: The package to leave out.
        config: The configuration of the project that runs; it leads to all installed packages.
        codes: The source code of the other projects.
    """
    names = find_read(codes)
    for name, project in config.load_dependencies().items():
        if name != package:
            given = project.vars.to_dict()
            names |= {name, *(given.get(name) or {}), *(given if name != config.project_name else {})}
    return names


def find_read(codes: Iterable[str]) -> set[str]:
    """Return the names of vars that source code reads."""
    return {name for code in codes for name in re.findall(r"\bvar\(\s*['\"]([^'\"]+)['\"]", code or "")}


def find_nearest(name: str, known: Iterable[str]) -> str:
    """Return the most similar known name; the first one if several are equally similar."""
    return min(known, key=lambda each: (not is_near(name, each), count_errors(_plain(name), _plain(each))))


def is_near(name: str, known: str) -> bool:
    """Whether a name is probably a misspelt, shortened or extended form of a known name."""
    one, other = _plain(name), _plain(known)
    if count_errors(one, other) <= (1 if len(other) < _LONG else 2):
        return True
    return one.startswith(other) or (len(one) >= _BEGINNING and other.startswith(one))


def count_errors(one: str, other: str) -> int:
    """Compute the optimal string alignment distance of two texts.

    It is the smallest number of insertions, deletions, replacements and swaps of neighbouring letters that turn one
    text into the other, where each letter changes at most once.
    """
    before, last = [], [*range(len(other) + 1)]
    for row, letter in enumerate(one, 1):
        now = [row]
        for column, wanted in enumerate(other, 1):
            least = min(last[column] + 1, now[-1] + 1, last[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and (letter, one[row - 2]) == (other[column - 2], wanted):
                least = min(least, before[column - 2] + 1)
            now.append(least)
        before, last = last, now
    return last[-1]


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", str(name).lower())
