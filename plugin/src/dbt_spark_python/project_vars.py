"""Checks the vars of a package: dbt itself accepts any name and any value, and ignores a misspelt var."""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from difflib import SequenceMatcher
from typing import Any

from dbt.config import RuntimeConfig

COMMAND_LINE = "--vars"
PROJECT = "vars:"

# Names that begin alike are near from this ratio of `SequenceMatcher` on.
_LIKE = 0.85
# A prefix of this many letters is enough to recognise a name.
_BEGINNING = 6
# A path with a user and a password before its host.
_PASSWORD = re.compile(r"[^/@]*://[^/@:]*:[^/@]*@")

#: The kinds of numbers: the least value, whether null is one, and the words of an error.
_NUMBERS = {
    "count": (0, False, "an integer, 0 or more"),
    "positive": (1, False, "an integer, 1 or more"),
    "positive or none": (1, True, "none or an integer, 1 or more"),
}

#: The forms of a table and of a log, in words.
_REFERENCES = "{ref: model}, {ref: [package, model]} or {source: [name, table]}"
_FORMS = {
    "table or none": f"none, the name of a model or seed, {_REFERENCES}",
    "log": f"a path or glob, {_REFERENCES}",
}


def find_wrong_values(kinds: Mapping[str, str | list], values: Mapping[str, Any]) -> list[str]:
    """Find vars with values that they cannot have, and return a sentence for each; a password in a path is not shown.

    `kinds` has by name a list of the possible values, or `boolean`, `log` (a path or a reference to a table), `count`,
    `positive`, `positive or none` or `table or none`.
    """
    faults = []
    for name, kind in kinds.items():
        value = values.get(name)
        if kind == "log" and isinstance(value, str) and _PASSWORD.match(value):
            faults.append(
                f"var '{name}' has a password before the @ of its path (not shown here): remove it, give credentials "
                "in the environment, and change the password, because dbt's logs name all vars"
            )
        elif wanted := _describe_other(kind, value):
            faults.append(f"var '{name}' is {json.dumps(value, default=str)}, but must be {wanted}")
    return faults


def _describe_other(kind: str | list, value: Any) -> str | None:
    """Return the words for the possible values, if the value is not one of them."""
    if isinstance(kind, list):
        is_right = any(type(value) is type(each) and value == each for each in kind)
        return None if is_right else f"{', '.join(map(str, kind[:-1]))} or {str(kind[-1]).lower()}"
    if kind == "boolean":
        return None if isinstance(value, bool) else "true or false"
    if kind in _FORMS:
        is_right = value is None or (isinstance(value, str) and value.strip()) or is_table(value)
        return None if is_right else _FORMS[kind]
    least, may_be_none, words = _NUMBERS[kind]
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= least
    return None if is_number or (may_be_none and value is None) else words


def is_table(value: Any) -> bool:
    """Whether a log is a reference to a table: `{ref: model}`, or `ref` or `source` with a list of two names."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    ((kind, names),) = value.items()
    if isinstance(names, str):
        return kind == "ref" and bool(names.strip())
    is_pair = isinstance(names, list | tuple) and len(names) == 2 and all(isinstance(name, str) for name in names)
    return kind in ("ref", "source") and is_pair


def find_unknown(
    package: str, known: Collection[str], given: Mapping[str, Mapping[str, Any]], others: Collection[str] | None
) -> list[dict[str, str]]:
    """Find var names that are meant for a package and that are not `known`, the names that the package defines.

    `given` has all vars by the place where they are set: `COMMAND_LINE` or `PROJECT`. In the project, a mapping under
    the package's name holds vars for that package alone. `others` is None if the package is the project that runs; then
    every name is meant for it. Otherwise it has the names of the other packages and of the vars they read. A name is
    then meant for the package if it is set below the package's own name, or if it is near a known name and not in
    `others`.

    The result has the `name`, the `place` and the most similar known name, `nearest`. That is the package's own name if
    it was used as a scope on the command line, where scopes do not exist.
    """
    found = []
    places = {**given, f"{PROJECT} {package}:": given.get(PROJECT, {}).get(package) or {}}
    for place, given_here in places.items():
        may_be_of_others = others is not None and place in (COMMAND_LINE, PROJECT)
        for name in given_here if isinstance(given_here, Mapping) else ():
            if name in known or (name == package and place == PROJECT):
                continue
            nearest = find_nearest(name, [*known, package])
            is_misspelt = may_be_of_others and name not in others and is_near(name, nearest)
            if name == package or not may_be_of_others or is_misspelt:
                found.append({"name": str(name), "place": place, "nearest": nearest})
    return found


def names_of_others(package: str, config: RuntimeConfig, codes: Iterable[str]) -> set[str]:
    """Return the names of the other projects, and of the vars that they set or read in their code."""
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
    return max(known, key=lambda each: (is_near(name, each), _likeness(name, each)))


def is_near(name: str, known: str) -> bool:
    """Whether a name is probably a misspelt, shortened or extended form of a known name."""
    one, other = _plain(name), _plain(known)
    if one[:1] == other[:1] and _likeness(name, known) >= _LIKE:
        return True
    return one.startswith(other) or (len(one) >= _BEGINNING and other.startswith(one))


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, _plain(one), _plain(other)).ratio()


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", str(name).lower())
