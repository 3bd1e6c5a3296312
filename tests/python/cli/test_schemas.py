"""The JSON Schemas of the commands' answers: one for each command with --json, and strict enough to refuse others."""

import json

import pytest
from jsonschema import ValidationError

import cli_story as story
from answer_schemas import SCHEMAS, validator
from cli_kit import Warehouse
from dbt_tangles.cli.cli import COMMANDS, _Commands

COMMAND_GROUP = _Commands()


def test_every_command_with_json_has_a_schema():
    commands = {name: COMMAND_GROUP.get_command(None, name) for name in COMMANDS}
    with_json = {name for name, command in commands.items() if any("--json" in each.opts for each in command.params)}
    assert {path.name.removesuffix(".schema.json") for path in SCHEMAS.iterdir()} == with_json


@pytest.fixture
def warehouse(tmp_path, monkeypatch) -> Warehouse:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.jsonl").write_text(json.dumps({"feed": story.ALICE, "sequence": 9}))
    return story.write(tmp_path / "wh")


ASKED = [
    ("why", story.B2),
    ("why", story.ALICE),
    ("why", story.GONE),
    ("show", story.ROOT),
    ("status",),
    ("status", "--fail-on", "forks"),
    ("check", "answers.jsonl"),
    ("send", "--clock"),
]


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_other_answers_are_refused(warehouse, words):
    """An answer is valid; it is not without a key that every answer has, or with a value of another type."""
    answer = warehouse.json(*words)
    for name, value in answer.items():
        if name not in ("next", "only", "tests", "conditions", "verified", "alike"):
            assert is_refused(answer, {k: v for k, v in answer.items() if k != name}), name
        assert is_refused(answer, answer | {name: 1.5 if not isinstance(value, float) else "text"}), name


def is_refused(answer: dict, other: dict) -> bool:
    command = answer["schema"].split("/")[1]
    try:
        validator(command).validate(other)
    except ValidationError:
        return True
    return False
