"""A wrong value of a var and a path without files fail a build; the error names the var."""

import json

import pytest

from conftest import refusal

pytestmark = pytest.mark.both

NOTHING = {
    "ssb_log": "nothing.jsonl",
    "pzp_log": "*.jsonl",
    "autobase_log": "nowhere/log.jsonl",
    "event_log": "_log.txt",
}


def test_no_file(project, tmp_path):
    """A path without files fails the models that read it; the error names the var."""
    built = project("no_file", **{log: str(tmp_path / name) for log, name in NOTHING.items()})
    models = [f"stg_{log}__lines" for log in ("ssb", "pzp", "autobase", "events")]
    result = built.invoke_parsed("run", "--select", *models)
    assert result.exception is None, result.exception
    said = {r.node.name: r.message for r in result.result if r.status == "error"}
    assert sorted(said) == sorted(models)
    for model, (log, name) in zip(models, NOTHING.items(), strict=True):
        assert log in said[model]
        assert name in said[model]


#: Wrong values by var. Values of one place are given together, and every one of them is refused.
WRONG_VARS = {
    "ssb_log": (7, "", ["a.jsonl"]),
    "pzp_log": (True, " ", {"a": 1}),
    "autobase_log": (0, "", [[]]),
    "event_log": (7, "", {"table": "a"}),
    "consensus_rule": ("Autobase", "", None, True, ["design"]),
    "quorum_degrees": (0, -1, True, "3", None, 2.5),
    "set_ghost_span": (0, -1, True, "x", None, 1.5),
    "ssb_log_format": ("xml", None),
    "verify_signatures": ("yes", 1, None),
    "log_timeline": ("no", 0, None, [], True, 0.0),
    "count_changes": ("no", 1),
    "incremental_from": (-1, None, "many"),
    "private_groups": ("no", 1),
    "identities": (7, "", ["people"], {"ref": 7}),
    "group_authority": ("no", 1),
    "test_private_models": ("no", 1),
    "tangle_engine": ("fast", None),
    "sql_edge_limit": (1.5, -1, "5", None, True),
    "ancestor_limit": (-1, "many"),
    "clock_limit": (-1, "5"),
    "base_clock_limit": (-1,),
    "graph_limit": (0, -1, "x", 1.5, None, True),
    "unpack_limit": (0, -1, "many", 1.5, True, None),
    "tangle_types": ({"tangle_name": "page"}, "page", None, 3, True),
    "rows_in_memory": (0, "many", None),
    "edit_batch_size": (-1, "x", "1", 1.5, None, True),
    "edit_limit": (-1, "x", 1.5, None, True),
    "edit_command_limit": (-1, "x", 1.5, None, True),
    "max_previous": (0, -1, "2", 1.5, True, [2]),
}
TURNS = [
    {name: values[turn] for name, values in WRONG_VARS.items() if turn < len(values)}
    for turn in range(max(map(len, WRONG_VARS.values())))
]


def is_refused(name: str, value, said: str) -> bool:
    return f"var '{name}' is {json.dumps(value)}, but must be " in said


@pytest.mark.parametrize("turn", range(len(TURNS)))
def test_wrong_vars(turn, project, manifest, warehouse):
    """Each wrong value is refused before any model runs; the error names the var."""
    said = refusal(project("wrong_vars", **TURNS[turn]).invoke("run", manifest=manifest))
    assert [(name, value) for name, value in TURNS[turn].items() if not is_refused(name, value, said)] == []
    assert said.count("but must be") == len(TURNS[turn])
    forms = {"event_log": "{source: [name, table]}", "identities": "the name of a model or seed"}
    assert all(words in said for name, words in forms.items() if name in TURNS[turn])
    assert not [path for path in (warehouse / "wrong_vars.db").glob("*") if any(path.iterdir())]


def test_a_password_in_a_path_is_refused_and_not_shown(project, manifest):
    paths = {"ssb_log": "s3a://key:pass-word@bucket/a.jsonl", "pzp_log": "abfss://logs@account/b.jsonl"}
    said = refusal(project("passwords", **paths, edit_limit=-1).invoke("run", manifest=manifest))
    assert "var 'ssb_log' has a password before the @ of its path" in said and is_refused("edit_limit", -1, said)
    assert "pass-word" not in said and "pzp_log" not in said


def test_wrong_vars_are_parsed(project):
    wrong = {"ssb_log": 7, "sql_edge_limit": "5", "max_previous": [2]}
    said = refusal(project("wrong_vars_parsed", **wrong).invoke("run"))
    assert all(is_refused(name, value, said) for name, value in wrong.items())


NAMED = {"tangle_name": "page"}
#: Wrong types of tangles, and the words of the error.
WRONG_TYPES = {
    "a text": ("page", 'has "page", but must have types with a tangle_name'),
    "no name": ({"content_types": ["post"]}, "must have types with a tangle_name"),
    "an empty name": ({"tangle_name": ""}, "must have types with a tangle_name"),
    "a reserved name": ({"tangle_name": "ssb:feed"}, 'the type "ssb:feed" has a name of the tangles that do not use'),
    "an unknown key": ({**NAMED, "content_type": ["post"]}, 'has the unknown key "content_type"'),
    "one content type": ({**NAMED, "content_types": "post"}, 'has the content_types "post", but must have a list'),
    "no content types": ({**NAMED, "root_content_types": []}, "has the root_content_types [], but must have a list"),
    "an empty content type": ({**NAMED, "content_types": ["a", ""]}, "but must have a list of content types"),
    "an unknown rule": (
        {**NAMED, "previous_rule": "feed"},
        'has the previous_rule "feed", but must have members or one_member',
    ),
    "a reducer of texts": ({**NAMED, "reducer": ["title"]}, "but must have a map of 1 to 100 fields to strategies"),
    "an empty reducer": ({**NAMED, "reducer": {}}, "but must have a map of 1 to 100 fields to strategies"),
    "an unknown strategy": (
        {**NAMED, "reducer": {"title": "last"}},
        'has the strategy "last" of the field "title", but must have overwrite, simple_set or complex_set',
    ),
    "unknown writers": (
        {**NAMED, "writers": "members"},
        'has the writers "members", but must have anyone, root_author',
    ),
    "writers without a field": ({**NAMED, "writers": "root_field"}, "must name the field of the root in writers_field"),
    "a field without writers": ({**NAMED, "writers_field": "editors"}, "but must have the writers root_field"),
    "a number": ({**NAMED, "description": 3}, "has the description 3, but must have a text"),
}


def test_wrong_tangle_types(project, manifest, warehouse):
    """One run refuses every wrong type before any model runs; the error names the type."""
    types = [given for given, _ in WRONG_TYPES.values()]
    said = refusal(project("wrong_types", tangle_types=types).invoke("run", manifest=manifest))
    assert [name for name, (_, words) in WRONG_TYPES.items() if words not in said] == []
    assert not [path for path in (warehouse / "wrong_types.db").glob("*") if any(path.iterdir())]


def test_a_repeated_tangle_type(project, manifest):
    given = [{"tangle_name": "page"}, {"tangle_name": "page", "content_types": ["post"]}]
    said = refusal(project("wrong_types", tangle_types=given).invoke("run", manifest=manifest))
    assert "var 'tangle_types' has the type \"page\" twice: give it once" in said


def test_jinja_in_a_tangle_type(project, manifest):
    given = [{"tangle_name": "page", "content_types": ["{{ 1 + 1 }}"]}]
    assert "without {{" in refusal(project("wrong_types", tangle_types=given).invoke("run", manifest=manifest))
