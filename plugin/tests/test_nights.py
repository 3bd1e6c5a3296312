"""Nightly runs of a project with one kind of group, on the engine; any sequence of runs gives a full build's tables."""

import json
import random
import textwrap

import pytest

from conftest import ENGINE, FORMATS
from dbt_process import run
from shop_nights import FIRST, Nights
from shop_project import DIES, FAILS, expected_days, expected_sums


@pytest.mark.both
@pytest.mark.iceberg
@pytest.mark.delta
@pytest.mark.rest
def test_a_night_rebuilds_changed_groups(nights, capsys):
    nights.run()
    nights.check()
    assert nights.facts("sums") == (0, 1, (4, 0, 0))

    assert set(nights.run().values()) == {"unchanged"}
    nights.change(("a", 3, 1), ("new", 1, 2))
    nights.run()
    nights.check()
    assert nights.rows("changed_orders") == [order for order in nights.rows("orders") if order[0] in ("a", "new")]
    assert nights.facts("changed_orders")[:2] == (1, 2)
    assert nights.facts("sums") == (1, 2, (1, 1, 0))
    assert "Rebuilding" not in capsys.readouterr().out

    nights.change(gone=("b", None))
    nights.run()
    nights.check()
    assert nights.rows("changed_orders") == []
    assert nights.facts("sums") == (2, 3, (0, 0, 2))


@pytest.mark.both
def test_the_keys_of_few_changed_groups_are_broadcast(nights, monkeypatch):
    nights.run()
    for night, (limit, most, are_few) in enumerate([("ROWS", 2, True), ("ROWS", 1, False), ("CHARACTERS", 3, False)]):
        nights.change(("a", 3, 1), ("new", 1, 2))
        with monkeypatch.context() as patched:
            patched.setattr(f"dbt_spark_python.incremental.earlier.MOST_BROADCAST_{limit}", most)
            built = nights.built.invoke("build").result
        nights.check()
        codes = {each.node.name: each.node.compiled_code for each in built}
        assert ("/*+ broadcast(changed) */" in codes["changed_orders"]) == are_few
        assert nights.facts("sums") == (night + 1, night + 2, (0, 2, 0) if night else (1, 1, 0))


@pytest.mark.both
@pytest.mark.iceberg
@pytest.mark.delta
@pytest.mark.rest
def test_models_that_were_left_out_catch_up(nights):
    nights.run()
    nights.change(("a", 4, 1))
    nights.run("--select", "+sums")
    assert nights.rows("sums") == expected_sums(nights.orders)
    nights.change(("c", 4, 1))
    nights.run("--select", "+sums")
    nights.run()
    nights.check()
    assert nights.facts("days")[:2] == (1, 3)
    assert nights.facts("sums")[1] == 3


@pytest.mark.sail
def test_a_changed_model_is_rebuilt_and_named(nights, capsys):
    models = nights.built.project_dir / "models"
    nights.run()
    (models / "sums.sql").write_text((models / "sums.sql").read_text().replace("sum(amount)", "2 * sum(amount)"))
    nights.run()
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "Rebuilding" in line)
    assert "Rebuilding sums" in line
    assert "its code changed" in line
    assert nights.rows("sums") == [(shop, 2 * total, orders) for shop, total, orders in expected_sums(nights.orders)]
    assert nights.rows("days") == expected_days(nights.orders)


@pytest.mark.sail
@pytest.mark.iceberg
@pytest.mark.delta
def test_a_table_changed_from_outside_is_rebuilt_and_named(nights, capsys):
    nights.run()
    nights.alter("days")
    assert nights.run()["sums"] == "unchanged"
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "Rebuilding" in line)
    assert "Rebuilding days" in line
    assert f"its {'snapshot' if ENGINE in FORMATS else 'files'} changed" in line
    nights.check()


BY_DAY = {
    "day_versions.sql": """
        {{ config(materialized='incremental_groups', meta={'holds': 'versions'}) }}
        with orders as (select nullif(day, 2) as day, cast(amount as string) as amount from {{ ref('orders') }}),
        {{ group_versions('orders', 'day', ['amount']) }}
    """,
    "by_day.sql": """
        {{ config(materialized='incremental_groups', meta={'group_versions': 'day_versions', 'group_key': 'day'}) }}
        select nullif(day, 2) as day, sum(amount) as total from {{ ref('orders') }}
        where {{ is_changed('nullif(day, 2)', ref('day_versions')) }} group by nullif(day, 2)
    """,
}


@pytest.mark.both
@pytest.mark.iceberg
def test_keys_of_groups_may_be_numbers_and_null(nights):
    for name, text in BY_DAY.items():
        (nights.built.project_dir / "models" / name).write_text(textwrap.dedent(text))
    nights.run()
    nights.change(("d", 3, 1), gone=("b",))
    assert nights.run()["by_day"] == "OK"
    assert nights.rows("by_day") == [(1, 14), (3, 9), (None, 6)]
    assert nights.manifest("by_day")["groups"]["since"] == 1


@pytest.mark.both
def test_groups_of_a_table_in_partitions(nights):
    model = nights.built.project_dir / "models" / "sums.sql"
    model.write_text("{{ config(partition_by=['total']) }}" + model.read_text())
    nights.run()
    nights.change(("a", 3, 1), gone=("b",))
    nights.run()
    assert nights.ask("select shop, total, orders from {sums}") == expected_sums(nights.orders)


GROWN = """
    from dbt_spark_python.incremental.earlier import ExtendedTable, earlier


    def model(dbt, spark):
        dbt.config(materialized="incremental_groups", meta={"holds": "versions", "row_versions": True})
        orders, before = dbt.ref("orders"), earlier(spark, dbt.this)
        if before is None:
            return orders.selectExpr("*", "cast(1 as bigint) as version")
        new = orders.exceptAll(before.drop("version")).selectExpr("*", "cast(2 as bigint) as version")
        return ExtendedTable(new, before.selectExpr("raise_error('all rows are written') as failed"))
"""


@pytest.mark.both
@pytest.mark.iceberg
@pytest.mark.delta
def test_only_the_new_rows_of_an_extended_table_are_written(nights):
    model = nights.built.project_dir / "models" / "grown.py"
    model.write_text(textwrap.dedent(GROWN))
    nights.run()
    nights.change(("a", 3, 1))
    said = nights.run()
    assert said["grown"] == "OK"
    assert nights.rows("grown") == sorted([*((*order, 1) for order in FIRST), ("a", 3, 1, 2)], key=repr)
    model.write_text(model.read_text() + "# changed\n")
    nights.run()
    assert nights.rows("grown") == sorted(((*order, 1) for order in nights.orders), key=repr)


GROWN_TOO = """
    {{ config(materialized='incremental_groups', meta={'group_versions': 'grown', 'group_key': 'shop',
        'key_columns': ['shop']}) }}
    select shop, max(day) as day from {{ ref('grown') }}
    where {{ is_changed_line() }} group by shop
"""


def run_grown(nights, *orders: tuple) -> tuple[set, set]:
    """Build the models above, then once more with further orders; the files of `grown_too` before and after."""
    models, inodes = nights.built.project_dir / "models", []
    (models / "grown.py").write_text(textwrap.dedent(GROWN))
    (models / "grown_too.sql").write_text(textwrap.dedent(GROWN_TOO))
    for added in ((), orders):
        nights.change(*added)
        nights.run()
        inodes.append({file.stat().st_ino for file in nights.files("grown_too")})
    return tuple(inodes)


@pytest.mark.both
@pytest.mark.iceberg
@pytest.mark.delta
def test_only_the_rows_of_new_lines_are_written(nights):
    before, after = run_grown(nights, ("d", 4, 1), ("e", 5, 1))
    assert nights.rows("grown_too") == [("a", 2), ("b", 1), ("c", 3), ("d", 4), ("e", 5), (None, 1)]
    assert nights.facts("grown_too") == (1, 2, (2, 0, 0))
    assert ENGINE in FORMATS or before < after
    if ENGINE == "iceberg":
        (operation,) = nights.ask("select operation from {grown_too}.snapshots order by committed_at desc limit 1")
        assert operation == ("append",)


@pytest.mark.both
def test_all_rows_are_written_if_a_new_line_belongs_to_an_earlier_row(nights):
    before, after = run_grown(nights, ("a", 4, 1), ("e", 5, 1))
    assert nights.rows("grown_too") == [("a", 4), ("b", 1), ("c", 3), ("e", 5), (None, 1)]
    assert nights.facts("grown_too") == (1, 2, (1, 1, 0))
    assert not before & after


@pytest.mark.sail
def test_empty_tables_are_not_continued(nights):
    nights.run()
    nights.change(("a", 3, 1))
    nights.run("--empty")
    assert nights.rows("sums") == []
    nights.run()
    nights.check()


@pytest.mark.sail
def test_a_test_looks_at_the_groups_that_changed(nights):
    """After a failure it looks at all groups, because its last run did not pass."""
    (name,) = {name for name in nights.run() if name.startswith("is_positive")}
    nights.change(("a", 3, 1))
    assert nights.run()[name] == "OK"
    compiled = nights.built.warehouse / "target" / nights.built.schema / "compiled" / "shop" / "models"
    (file,) = compiled.rglob(f"{name}.sql")
    assert "where version > 1" in file.read_text()
    nights.change(("a", 4, -100))
    assert "Got 1 result" in nights.run()[name]
    nights.change(("b", 1, 1))
    assert "Got 1 result" in nights.run()[name]
    assert "where version > 2" in file.read_text()


@pytest.mark.sail
def test_a_test_that_asks_for_the_time_runs_each_night(nights):
    tests = nights.built.project_dir / "tests"
    tests.mkdir()
    for name, time in (
        ("by_clock", "current_date()"),
        ("by_run", "'{{ run_started_at }}'"),
        ("by_day", "'2100-01-01'"),
    ):
        (tests / f"{name}.sql").write_text(f"select * from {{{{ ref('sums') }}}} where {time} < '2020-01-01'")
    nights.run()
    assert {name for name, said in nights.run().items() if said != "unchanged"} == {"by_clock", "by_run"}


@pytest.mark.long
@pytest.mark.sail
@pytest.mark.iceberg
@pytest.mark.rest
def test_a_process_that_is_killed(nights):
    nights.run()
    nights.change(("a", 3, 1), gone=("b",))
    built = nights.built
    arguments = ["build", "--vars", json.dumps(built.vars), "--threads", "1"]
    environment = {DIES: "days", "DBT_SPARK_PYTHON_TEST_SCHEMA": built.schema}
    done = run(nights.log.parent, built.project_dir, arguments, environment)
    assert done.returncode == -9, done.stdout + done.stderr
    assert nights.facts("changed_orders")[:2] == (1, 2)
    assert nights.rows("days") == expected_days(FIRST)
    nights.run()
    nights.check()
    assert nights.facts("days")[:2] == (1, 2)


SELECTIONS = [
    (),
    (),
    ("--select", "+sums"),
    ("--select", "+days"),
    ("--select", "orders"),
    ("--select", "orders", "shop_versions"),
    ("--select", "changed_orders+"),
    ("--select", "sums", "days"),
    ("--exclude", "changed_orders"),
    ("--full-refresh", "--select", "+sums"),
    ("--full-refresh",),
]


def change_orders(nights: Nights, chance: random.Random) -> None:
    """Change the log at random: add a few orders, and sometimes remove shops."""
    shops = ["a", "b", "c", "d", None]
    new = [(chance.choice(shops), chance.randrange(4), chance.randrange(1, 9)) for _ in range(chance.randrange(3))]
    nights.change(*new, gone=tuple(chance.sample(shops, chance.choice([0, 0, 1]))))


@pytest.mark.long
@pytest.mark.both
@pytest.mark.iceberg
def test_any_nights_end_in_the_tables_of_a_full_build(nights, monkeypatch):
    chance = random.Random(7)
    nights.run()
    for _ in range(8 if ENGINE == "sail" else 4):
        change_orders(nights, chance)
        fails = chance.choice(["", "", "sums", "days"])
        if lost := chance.choice(["", "", "sums", "changed_orders", "days", "shop_versions"]):
            nights.lose(lost)
        monkeypatch.setenv(FAILS, fails)
        nights.run(*chance.choice(SELECTIONS))
        monkeypatch.setenv(FAILS, "")
        if chance.random() < 0.4:
            nights.run()
            nights.check()
    nights.run()
    nights.check()
    assert set(nights.run().values()) == {"unchanged"}
