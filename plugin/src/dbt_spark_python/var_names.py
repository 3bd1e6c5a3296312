"""Finds names of vars that a package does not have: dbt takes any name, and a misspelt one has no effect."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from dbt.config import RuntimeConfig

COMMAND_LINE = "--vars"
PROJECT = "vars:"

# Letters of a name from which on it may have two errors; a shorter one may have one.
_LONG = 12

# Letters of a name's beginning that are enough to know it by.
_BEGINNING = 6


def find_unknown(
    package: str, known: Collection[str], given: Mapping[str, Mapping[str, Any]], others: Collection[str] | None
) -> list[dict[str, str]]:
    """Find names of vars that are meant for a package and that it does not have.

    Args:
        package: The package.
        known: The names that it has.
        given: All vars, by where they stand: `COMMAND_LINE` or `PROJECT`, where those of the package alone are a
            mapping of its name.
        others: None where the package is the project that runs, so that every name is meant for it. Otherwise the
            names that other packages read, and their own: a name is meant for the package where it stands below the
            package's own, or is near to a known one and none of these.

    Returns:
        For each: `name`, `place`, and `nearest`, the known name that is the nearest; the name itself where that is the
        package's own, which is no scope on the command line.
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
    """The names of projects other than a package, and of the vars that they set or read.

    Args:
        package: The package.
        config: Of the project that runs, and through it of all that it installs.
        codes: The code of these projects.
    """
    names = find_read(codes)
    for name, project in config.load_dependencies().items():
        if name != package:
            given = project.vars.to_dict()
            names |= {name, *(given.get(name) or {}), *(given if name != config.project_name else {})}
    return names


def find_read(codes: Iterable[str]) -> set[str]:
    """The names of vars that are read in some code."""
    return {name for code in codes for name in re.findall(r"\bvar\(\s*['\"]([^'\"]+)['\"]", code or "")}


def find_nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is the nearest; the first where several are."""
    return min(known, key=lambda each: (not is_near(name, each), count_errors(_plain(name), _plain(each))))


def is_near(name: str, known: str) -> bool:
    """Whether a name is probably another one, misspelt, cut, or with something behind it."""
    one, other = _plain(name), _plain(known)
    if count_errors(one, other) <= (1 if len(other) < _LONG else 2):
        return True
    return one.startswith(other) or (len(one) >= _BEGINNING and other.startswith(one))


def count_errors(one: str, other: str) -> int:
    """The fewest letters to be added, left out, replaced or exchanged with their neighbour to make one text the other.

    No letter is changed twice (the optimal string alignment distance).
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
