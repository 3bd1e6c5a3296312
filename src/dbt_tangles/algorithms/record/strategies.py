"""Strategies of record fields: validity, equality and JSON text of their transformations.

A message transforms a field by a JSON value: ``{"set": VALUE}`` for `overwrite`, ``{ENTRY: WEIGHT}`` for `simple_set`,
``{ENTRY: {POSITION: WEIGHT}}`` for `complex_set`, ``{}`` for no change. `sets` has the rules of both kinds of sets.

Source: @tangle/overwrite 3.0.1, with is-my-json-valid 2.20.6 and lodash.isequal 4.5.0.
"""

import json
import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import orjson

from dbt_tangles.algorithms.record.sets import is_complex_set, is_simple_set

OVERWRITE = "overwrite"
SIMPLE_SET = "simple_set"
COMPLEX_SET = "complex_set"
#: A transformation with deeper values is malformed. The libraries accept values of any depth.
MOST_NESTING = 100


def is_valid(strategy: str, transformation: Any) -> bool:
    """Whether a field of a message is a valid transformation, by the strategy's default schema.

    Args:
        strategy: `OVERWRITE`, `SIMPLE_SET` or `COMPLEX_SET`.
        transformation: The parsed value of the field, of any type.
    """
    if type(transformation) is not dict or not _is_shallow(transformation):
        return False
    if strategy == OVERWRITE:
        return transformation.keys() <= {"set"} and type(transformation.get("set")) is not list
    return is_simple_set(transformation) if strategy == SIMPLE_SET else is_complex_set(transformation)


def malformed_fields(content: Mapping[str, Any], strategies: Mapping[str, str]) -> list[str]:
    """List the fields of a content that are no transformation of their strategy, by name."""
    return sorted(f for f, strategy in strategies.items() if f in content and not is_valid(strategy, content[f]))


def _is_shallow(value: Any) -> bool:
    level = [value]
    for _ in range(MOST_NESTING):
        level = [part for each in level if type(each) in (dict, list) for part in _parts(each)]
        if not level:
            return True
    return False


def _parts(value: dict | list) -> Iterable[Any]:
    return value.values() if type(value) is dict else value


def equality_key(value: Any) -> Hashable:
    """Map a JSON value to a key: values with equal keys are equal by JavaScript's deep equality.

    Objects are equal in any order of their keys, and numbers are doubles.
    """
    if type(value) is dict:
        return "object", frozenset((name, equality_key(part)) for name, part in value.items())
    if type(value) is list:
        return "array", tuple(map(equality_key, value))
    if type(value) in (int, float):
        return "number", float(value)
    return type(value).__name__, value


def to_json(value: Any) -> str:
    """Write a JSON value compactly; infinite numbers become null, as in JavaScript, and lone surrogates are escaped."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # a lone surrogate
        return json.dumps(_finite(value), separators=(",", ":"))


def _finite(value: Any) -> Any:
    if type(value) is dict:
        return {name: _finite(part) for name, part in value.items()}
    if type(value) is list:
        return [_finite(part) for part in value]
    return None if type(value) is float and not math.isfinite(value) else value
