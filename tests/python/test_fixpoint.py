"""The materialization `fixpoint` in another project: its documented example, further models, and an invalid model."""

import re
import textwrap
from pathlib import Path

import pytest

from dbt.include import sparkpython
from dbt_projects import installing

pytestmark = pytest.mark.both

SELECTED = ("--select", "package:installer")
REFUSED = "one"
STAFF = """
    select * from values
        ('ada', null), ('ben', 'ada'), ('cyd', 'ada'), ('dan', 'ben'), ('eve', 'dan'), ('fay', 'gus'), ('gus', 'fay')
        as t (employee, superior)
"""
# Each round has the rows of the last one and one more; rows settle in 20 rounds.
BEFORE = """
    {{ config(
        materialized='fixpoint',
        meta={
            'result_columns': ['n', 'earlier'], 'first_round': 1, 'rounds': 21,
            'words': {'round': 'step', 'rows': 'numbers'}
        }
    ) }}
    select 1 as n, 0 as earlier, true as is_settled
    {{ next_query() }}
    select {{ round_number() }} as n, earlier, true as is_settled from (
        select earlier from {{ this_round() }}
        union all
        select {{ round_number() }} - 1
    ) where {{ round_number() }} <= 20
"""


def example() -> str:
    text = (Path(sparkpython.PACKAGE_PATH) / "macros" / "materializations" / "fixpoint.sql").read_text()
    return textwrap.dedent(re.search(r"( +{{ config.*?)-#}", text, re.DOTALL)[1])


@pytest.fixture(scope="module")
def built(project, tmp_path_factory):
    models = {
        "staff.sql": STAFF,
        "levels.sql": example(),
        "before.sql": BEFORE,
        "endless.sql": BEFORE.replace("<= 20", "> 0").replace("21", "5"),
        "nothing.sql": example().replace("superior is null", "false"),
        f"{REFUSED}.sql": "{{ config(materialized='fixpoint') }} select 1 as n",
    }
    folder = tmp_path_factory.mktemp("fixpoints") / "p"
    settings = {"models": {"+materialized": "table", "+file_format": "parquet"}}
    return project("fixpoints", installing(folder, models, **settings)).run(*SELECTED, "--exclude", REFUSED)


def test_documented_example(built):
    """The documented example gives each employee a level, except two employees who are each other's superior."""
    assert {(row["employee"], row["level"]) for row in built.rows("levels")} == {
        *(("ada", 0), ("ben", 1), ("cyd", 1), ("dan", 2), ("eve", 3))
    }


def test_earlier_rounds(built):
    assert sorted((row["n"], row["earlier"]) for row in built.rows("before")) == [
        (n, earlier) for n in range(1, 21) for earlier in range(n)
    ]


@pytest.mark.parametrize("model", ["nothing", "endless"])
def test_without_a_base_or_an_end_the_result_is_empty(built, model):
    assert built.table(model).num_rows == 0


def test_log_counts_the_rows_of_each_round(built):
    log = (built.warehouse / "logs" / "fixpoints" / "dbt.log").read_text()
    assert "before: step 1: 1 numbers settled" in log
    assert "before: step 2: 2 numbers settled" in log
    assert "endless: rounds stop at step 5: rows still settle, so the result is empty" in log
    assert not re.search(r"create table \S*before__", log)


def test_one_query_is_refused(built):
    """The error states the number of queries and the queries that a fixpoint needs."""
    result = built.invoke("run", "--select", REFUSED)
    (message,) = [r.message for r in result.result if r.status == "error"]
    assert "one has 1 queries: give a fixpoint a base query, a step query" in message
