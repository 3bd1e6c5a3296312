"""The generic test `row_rules` in an installing project: each kind of rule fails for its own rows and names them."""

import json

import pytest

from dbt_projects import installing

ROWS = """
    select * from values
        (1, 'a', 'new', 3, true), (2, 'b', 'odd', null, true), (3, null, null, -1, true), (3, 'c', 'old', 2, false),
        (null, 'd', 'new', 1, false), (null, 'd', 'new', 1, false)
        as t (id, name, state, amount, is_kept)
"""
RULES = {
    "not_null": ["name", "state"],
    "unique": [{"columns": ["name", "state"], "where": "is_kept"}, ["name", "is_kept"]],
    "accepted_values": {"state": ["new", "old"], "amount": [1, 2, 3]},
    "holds": {
        "amounts_are_positive": "amount > 0",
        "kept_rows_are_early": {"expression": "id < 3", "where": "is_kept"},
    },
}
# A rule, and the ids or the key of the rows that break it.
BROKEN = {
    "unique: id": [{"id": 3, "row_count": 2}, {"row_count": 2}],
    "unique: name, is_kept": [{"name": "d", "is_kept": False, "row_count": 2}],
    "name is not null": [3],
    "state is not null": [3],
    "state in ('new', 'old')": [2],
    "amount in (1, 2, 3)": [3],
    "amounts_are_positive": [2, 3],
    "kept_rows_are_early": [3],
}


KEPT = {
    "a_key": {"key_where": "id < 3"},
    "a_condition": {"holds": {"kept": {"expression": "amount is null or amount <> 0", "where": "is_kept"}}},
    "values": {"accepted_values": {"state": ["new", "old", "odd"]}},
}


def model_yml(model: str, rules: dict) -> str:
    """Write the yml of a model with this test; models with rules for their rows as a whole have a primary key."""
    test = {"tangles.row_rules": {"name": f"rows_of_{model}", "arguments": rules, "config": {"store_failures": True}}}
    keys = [{"type": "primary_key", "columns": ["id"]}] if model in ("orders", "a_key") else []
    return json.dumps({"models": [{"name": model, "constraints": keys, "data_tests": [test]}]})


@pytest.fixture(scope="module")
def built(project, tmp_path_factory):
    """Build a model for each set of rules over the same rows; return the project and the results by test."""
    files = {}
    for model, rules in {"orders": RULES, **KEPT}.items():
        files |= {f"{model}.sql": ROWS, f"{model}.yml": model_yml(model, rules)}
    settings = {"models": {"+materialized": "table", "+file_format": "parquet"}}
    made = project("row_rules", installing(tmp_path_factory.mktemp("row_rules") / "p", files, **settings))
    result = made.invoke("build", "--select", "package:installer")
    return made, {each.node.name: each for each in result.result}


def test_each_broken_rule_shows_its_rows(built):
    """The stored failures have one row for each rule and row; a repeated key is one row with its count."""
    made, results = built
    failed = results["rows_of_orders"]
    assert failed.status == "fail"
    audit = type(made)(**{**vars(made), "schema": f"{made.schema}_dbt_test__audit"})
    found: dict[str, list] = {}
    for row in audit.rows("rows_of_orders"):
        shown = json.loads(row["failing_row"])
        found.setdefault(row["broken_rule"], []).append(shown if "row_count" in shown else shown["id"])
    assert {rule: sorted(rows, key=str) for rule, rows in found.items()} == {
        rule: sorted(rows, key=str) for rule, rows in BROKEN.items()
    }
    assert failed.failures == sum(map(len, BROKEN.values()))


@pytest.mark.parametrize("model", KEPT)
def test_rules_that_hold_pass(model, built):
    results = built[1]
    assert (results[model].status, results[f"rows_of_{model}"].status) == ("success", "pass")


@pytest.mark.parametrize(("column", "dangling"), [("id", []), ("amount", [-1])])
def test_dangling_keys_are_found(column, dangling, built):
    """A foreign key with a null names no row and is right."""
    query = f"{{{{ tangles.find_dangling_keys(ref('orders'), ['{column}'], ref('a_key'), ['id']) }}}}"
    shown = built[0].invoke("show", "--inline", query).result.results[0].agate_table
    assert [json.loads(row["failing_row"]) for row in shown.rows] == [{column: value} for value in dangling]
    assert all(row["broken_key"] == f"orders ({column}): a_key" for row in shown.rows)
