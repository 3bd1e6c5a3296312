"""The generic test `row_rules` in an installing project: each kind of rule fails for its own rows, and names them."""

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
    "primary_key": ["id"],
    "not_null": ["name", "state"],
    "unique": [{"columns": ["name", "state"], "where": "is_kept"}, ["name", "is_kept"]],
    "accepted_values": {"state": ["new", "old"], "amount": [1, 2, 3]},
    "holds": {
        "amounts_are_positive": "amount > 0",
        "kept_rows_are_early": {"expression": "id < 3", "where": "is_kept"},
    },
}
# Rule, and the ids or the key of the rows that break it.
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


def model_yml(rules: dict) -> str:
    """Write the yml of a model `orders` with this test."""
    test = {"tangles.row_rules": {"name": "rows_of_orders", "arguments": rules, "config": {"store_failures": True}}}
    return json.dumps({"models": [{"name": "orders", "data_tests": [test]}]})


def built(project, folder, rules: dict):
    files = {"orders.sql": ROWS, "orders.yml": model_yml(rules)}
    settings = {"models": {"+materialized": "table", "+file_format": "parquet"}}
    return project(folder.name, installing(folder, files, **settings))


def test_each_broken_rule_shows_its_rows(project, tmp_path):
    """The stored failures are a row a rule and row; a key that repeats is one row with its count."""
    made = built(project, tmp_path / "broken_rules", RULES)
    result = made.invoke("build", "--select", "package:installer")
    (failed,) = [each for each in result.result if each.status == "fail"]
    assert failed.node.name == "rows_of_orders"
    audit = type(made)(**{**vars(made), "schema": f"{made.schema}_dbt_test__audit"})
    found: dict[str, list] = {}
    for row in audit.rows("rows_of_orders"):
        shown = json.loads(row["failing_row"])
        found.setdefault(row["broken_rule"], []).append(shown if "row_count" in shown else shown["id"])
    assert {rule: sorted(rows, key=str) for rule, rows in found.items()} == {
        rule: sorted(rows, key=str) for rule, rows in BROKEN.items()
    }
    assert failed.failures == sum(map(len, BROKEN.values()))


@pytest.mark.parametrize(
    "rules",
    [
        {"primary_key": {"columns": ["id"], "where": "id < 3"}},
        {"holds": {"kept": {"expression": "amount is null or amount <> 0", "where": "is_kept"}}},
        {"accepted_values": {"state": ["new", "old", "odd"]}},
    ],
    ids=["a key", "a condition", "values"],
)
def test_rules_that_hold_pass(project, tmp_path, rules):
    made = built(project, tmp_path / "kept_rules", rules)
    assert {each.status for each in made.invoke("build", "--select", "package:installer").result} == {"success", "pass"}
