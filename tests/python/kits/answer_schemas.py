"""Validates JSON answers of `tangles` against the schemas in docs/reference/schemas."""

import json
from functools import cache

from jsonschema import Draft202012Validator

from conftest import ROOT

SCHEMAS = ROOT / "docs" / "reference" / "schemas"


@cache
def validator(command: str) -> Draft202012Validator:
    """Return the validator of a command's answers."""
    schema = json.loads((SCHEMAS / f"{command}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def validate(answer: dict) -> dict:
    """Assert that an answer is valid by the schema of its command, which states the version; return the answer."""
    validator(answer["schema"].split("/")[1]).validate(answer)
    return answer
