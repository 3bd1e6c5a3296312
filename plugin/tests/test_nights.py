"""Nightly runs of a project with one kind of group, on the engine; any sequence of runs gives a full build's tables."""

import json
import os
import random
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import ENGINE, FORMATS
from dbt_process import run
from dbt_spark_python.incremental.snapshot_tables import SnapshotTables
from dbt_spark_python.incremental.tables import ChangedGroups
from dbt_spark_python.session.connection import process_session
from dbt_spark_python.table_store.public_folders import Publication
from shop_project import DIES, FAILS, expected_days, expected_sums, make_shop_project, write_orders

FIRST = [("a", 1, 5), ("a", 2, 6), ("b", 1, 7), ("c", 3, 8), (None, 1, 9)]


class Nights:
    """The project, its log, and its own schema."""

    def __init__(self, project, folder, schema: str) -> None:
        self.log = folder / "orders.csv"
        self.orders = list(FIRST)
        write_orders(self.log, self.orders)
        self.built = project(schema, make_shop_project(folder / "project"), log=str(self.log))

    def rows(self, name: str) -> list[tuple]:
        """The rows of a table."""
        return sorted((tuple(row.values()) for row in self.built.rows(name)), key=repr)

    def change(self, *orders: tuple, gone: tuple = ()) -> None:
        """Add orders, and remove the orders of some shops."""
        self.orders = [order for order in self.orders if order[0] not in gone] + list(orders)
        write_orders(self.log, self.orders)

    def run(self, *arguments: str) -> dict[str, str]:
        """Build, and return a message per node: its error, `skipped`, or `unchanged`."""
        result = self.built.invoke("build", *arguments)
        assert result.exception is None, result.exception
        skipped = {each.node.name: "skipped" for each in result.result if each.status == "skipped"}
        # Tests have no record of what passed on a table format, so they run each time.
        shown = [each for each in result.result if ENGINE not in FORMATS or each.node.resource_type == "model"]
        said = {each.node.name: each.message or each.adapter_response.get("_message") for each in shown}
        return said | skipped

    def ask(self, sql: str) -> list[tuple]:
        """Run a statement in the process's session; `{name}` in it is a table."""
        names = [*(path.stem for path in (self.built.project_dir / "models").iterdir())]
        return self.built.asked(sql.format(**{name: f"{self.built.schema}.{name}" for name in names}))

    def lose(self, *names: str) -> None:
        """Delete the data files of some tables; tables of a table format are dropped."""
        for name in names:
            if ENGINE in FORMATS:
                self.ask(f"drop table if exists {{{name}}}" if name != "-" else "select 1")
                continue
            for file in (self.built.warehouse / f"{self.built.schema}.db" / name).glob("*.parquet"):
                file.unlink()

    def check(self) -> None:
        """Assert that the tables equal a full build."""
        assert self.rows("sums") == expected_sums(self.orders)
        assert self.rows("days") == expected_days(self.orders)

    def manifest(self, name: str) -> dict:
        """The manifest of a table."""
        if ENGINE in FORMATS:
            properties = dict(self.ask(f"show tblproperties {{{name}}}"))
            return json.loads(bytes.fromhex(properties["dbt_spark_python.manifest"]))
        return json.loads((self.built.warehouse / f"{self.built.schema}.db" / name / "_table.json").read_text())

    def alter(self, name: str) -> None:
        """Change a table as another program might."""
        if ENGINE in FORMATS:
            self.ask(f"delete from {{{name}}} where shop = 'a'")
            return
        for file in (self.built.warehouse / f"{self.built.schema}.db" / name).glob("*.parquet"):
            os.utime(file, ns=(0, 0))

    def facts(self, name: str) -> tuple:
        """The recorded versions of a table, since and upto, and the counts of its last change."""
        noted = self.manifest(name)
        return noted["groups"]["since"], noted["groups"]["upto"], noted["changes"] and tuple(noted["changes"].values())


@pytest.fixture
def nights(project, tmp_path, request):
    """A project before its first build."""
    return Nights(project, tmp_path, "".join(c if c.isalnum() else "_" for c in request.node.name.lower()))


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
@pytest.mark.parametrize(
    ("limit", "most", "are_few"), [("ROWS", 2, True), ("ROWS", 1, False), ("CHARACTERS", 3, False)]
)
def test_the_keys_of_few_changed_groups_are_broadcast(nights, monkeypatch, limit, most, are_few):
    monkeypatch.setattr(f"dbt_spark_python.incremental.adapter_methods.MOST_BROADCAST_{limit}", most)
    nights.run()
    nights.change(("a", 3, 1), ("new", 1, 2))
    built = nights.built.invoke("build").result
    nights.check()
    codes = {each.node.name: each.node.compiled_code for each in built}
    assert ("/*+ broadcast(changed) */" in codes["changed_orders"]) == are_few
    assert nights.facts("sums") == (1, 2, (1, 1, 0))


@pytest.mark.both
@pytest.mark.spark_at_length
@pytest.mark.iceberg
@pytest.mark.delta
@pytest.mark.rest
def test_models_that_were_left_out_catch_up(nights):
    """From their own versions, after a part of the project was built twice."""
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
def test_a_table_is_not_built_from_too_few_groups(nights):
    nights.run()
    nights.change(("a", 3, 1))
    nights.run("--select", "orders")
    nights.lose("changed_orders", "sums")
    said = nights.run("--select", "changed_orders", "sums")
    assert "changed_orders needs rows that shop_versions lacks." in said["changed_orders"]
    assert said["sums"] == "skipped"
    nights.run("--select", "+sums")
    assert nights.rows("sums") == expected_sums(nights.orders)
    nights.run()
    nights.check()


@pytest.mark.sail
def test_lost_versions_are_counted_anew_and_all_groups_with_them(nights):
    nights.run()
    nights.change(("a", 3, 1))
    nights.lose("shop_versions")
    nights.run()
    nights.check()
    assert nights.facts("sums")[:2] == (0, 1)
    assert nights.rows("changed_orders") == nights.rows("orders")


@pytest.mark.sail
def test_one_command_a_model(nights):
    """As an orchestrator builds: the models one by one, each after its inputs."""
    nights.run()
    nights.change(("a", 3, 1), gone=("b",))
    for name in ("orders", "shop_versions", "changed_orders", "sums", "days"):
        nights.run("--select", name)
    nights.check()
    assert nights.facts("sums") == (1, 2, (0, 1, 1))
    assert set(nights.run().values()) == {"unchanged"}


@pytest.mark.sail
def test_a_changed_model_is_rebuilt_and_named(nights, capsys):
    nights.run()
    path = nights.built.project_dir / "models" / "sums.sql"
    path.write_text(path.read_text().replace("sum(amount)", "2 * sum(amount)"))
    nights.run()
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "Rebuilding" in line)
    assert "Rebuilding sums" in line
    assert "its code changed" in line
    assert nights.rows("sums") == [(shop, 2 * total, orders) for shop, total, orders in expected_sums(nights.orders)]
    assert nights.rows("days") == expected_days(nights.orders)


@pytest.mark.spark_at_length
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


@pytest.mark.iceberg
@pytest.mark.delta
def test_a_commit_without_its_manifest_is_made_again(nights, monkeypatch):
    """As if the process had been killed between the two commits of a table."""
    nights.run()
    nights.change(("a", 3, 1), gone=("b",))
    publish, before = SnapshotTables.publish, nights.manifest("sums")

    def fail_for_sums(tables, schema, name, *rest):
        if name == "sums":
            raise ValueError("stopped")
        publish(tables, schema, name, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(SnapshotTables, "publish", fail_for_sums)
        assert "stopped" in nights.run()["sums"]
    assert nights.rows("sums") == expected_sums(nights.orders)
    assert nights.manifest("sums") == before
    nights.run()
    nights.check()
    assert nights.facts("sums")[:2] == (0, 2)


@pytest.mark.sail
def test_a_rebuild_drops_the_rows_that_a_killed_merge_left_behind(nights):
    """On a table format, a run that is killed after `merge` leaves the table of new rows."""
    models = nights.built.project_dir / "models"
    (models / "sums__next.sql").write_text("select 1 as one")
    nights.run()
    (models / "sums__next.sql").unlink()
    (models / "sums.sql").write_text((models / "sums.sql").read_text() + "\n-- changed\n")
    nights.run()
    nights.check()
    assert "sums__next" not in [name for _, name, _ in nights.ask(f"show tables in {nights.built.schema}")]
    assert not (nights.built.warehouse / f"{nights.built.schema}.db" / "sums__next").exists()


@pytest.mark.spark_at_length
@pytest.mark.iceberg
@pytest.mark.delta
def test_a_reader_sees_the_rows_before_a_run_or_after_it(nights):
    """Each reading of a table during a run, also while `merge` replaces its rows, is one of the two states."""
    nights.run()
    before, seen, ended = {name: nights.rows(name) for name in ("sums", "days")}, [], threading.Event()

    def read() -> None:
        while not ended.is_set():
            seen.extend((name, nights.rows(name)) for name in before)

    nights.change(("a", 3, 1), ("d", 1, 1), gone=("b",))
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        try:
            nights.run()
        finally:
            ended.set()
        reading.result()
    nights.check()
    after = {name: nights.rows(name) for name in before}
    assert [each for each in seen if each[1] not in (before[each[0]], after[each[0]])] == []
    assert {name for name, rows in seen if rows == before[name] != after[name]} == {*before}


@pytest.mark.iceberg
@pytest.mark.delta
@pytest.mark.parametrize("partitions", ["", "partitioned by (shop)"])
@pytest.mark.parametrize(("changed", "kept"), [(["a"], {"b", "c", None}), (["a", "b", ""], {"c"})])
def test_groups_are_replaced_in_one_commit(nights, changed, kept, partitions):
    """A table without partitions is written in full if at least half of its files have a changed group."""
    nights.run("--select", "orders")  # it opens the session
    session, schema, form = process_session(), nights.built.schema, FORMATS[ENGINE]
    columns, name = "amount int, shop string, words map<string, int>", f"{schema}.kept"

    def execute(sql: str) -> list[tuple]:
        return [tuple(row) for row in session.sql(sql).collect()]

    def state() -> tuple[dict, int]:
        commits = execute(f"describe history {name}" if form == "delta" else f"select * from {name}.snapshots")
        file = "_metadata.file_path" if form == "delta" else "_file"
        return dict(execute(f"select shop, {file} from {name}")), len(commits)

    for table, more in (("kept", partitions), ("kept__next", "")):
        execute(f"create table {schema}.{table} ({columns}) using {form} {more}")
    for shop in ("'a'", "'b'", "'c'", "null"):
        execute(f"insert into {name} values (1, {shop}, map('x', 1))")
    execute(f"insert into {name}__next values (2, 'a', map('y', 2)), (3, 'd', null)")
    versions = [(shop, 2 if shop in changed else 1) for shop in ("a", "b", "c", "")]
    session.createDataFrame(versions, "shop_key string, version long").createOrReplaceTempView("kept_versions")
    files, commits = state()
    groups = ChangedGroups("shop", "kept_versions", "shop_key", 1)
    tables = SnapshotTables(execute, lambda schema: ["kept"], lambda: session)
    counts = tables.begin_replacement((schema, "kept"), groups).finish("kept__next", ["shop"])
    assert tuple(counts.values()) == (1, 1, len(changed) - 1)
    rows = [(1, shop, {"x": 1}) for shop in kept] + [(2, "a", {"y": 2}), (3, "d", None)]
    assert nights.rows("kept") == sorted(rows, key=repr)
    files_now, commits_now = state()
    assert commits_now == commits + 1
    is_merged = partitions or len(changed) == 1
    assert {shop for shop in kept if files[shop] == files_now[shop]} == (kept if is_merged else set())
    tables.publish(schema, "kept", "run", Publication())
    assert not session.catalog.tableExists(f"{name}__next")


@pytest.mark.spark_at_length
@pytest.mark.iceberg
@pytest.mark.delta
def test_maintenance_keeps_tables_current_and_their_history_readable(nights):
    nights.run()
    first = nights.manifest("sums")["content"]
    nights.change(("a", 3, 1))
    nights.run()
    assert nights.built.invoke("run-operation", "maintain_tables").success
    assert set(nights.run().values()) == {"unchanged"}
    assert sorted(nights.ask(f"select * from {{sums}} version as of {first}"), key=repr) == expected_sums(FIRST)
    nights.check()
    result = nights.built.invoke("run-operation", "maintain_tables", "--args", "{keep_days: 0}")
    assert result.success
    with pytest.raises(Exception, match=r"Cannot (time travel|find snapshot)"):
        nights.ask(f"select * from {{sums}} version as of {first}")
    assert set(nights.run().values()) == {"unchanged"}
    nights.check()


@pytest.mark.delta
def test_rows_are_not_counted_if_delta_lake_can_no_longer_read_the_earlier_version(nights):
    """By default, that is a version older than a week."""
    nights.run()
    assert nights.facts("sums")[2] == (4, 0, 0)
    setting = "spark.databricks.delta.properties.defaults.deletedFileRetentionDuration"
    nights.ask(f"set {setting} = interval 1 second")
    try:
        time.sleep(1)
        assert nights.run("--full-refresh")["sums"] == "OK"
    finally:
        nights.ask(f"reset {setting}")
    assert nights.facts("sums")[2] is None
    nights.check()


@pytest.mark.rest
def test_a_view_becomes_a_table_and_a_view_again(nights):
    """A catalog lists its views apart from its tables."""
    model = nights.built.project_dir / "models" / "shops.sql"
    for kind in ("view", "view", "table", "view"):
        model.write_text(f"{{{{ config(materialized='{kind}') }}}} select distinct shop from {{{{ ref('orders') }}}}")
        assert nights.run()["shops"] == "OK"
        assert nights.rows("shops") == [("a",), ("b",), ("c",), (None,)]


BY_DAY = {
    "day_versions.sql": """
        {{ config(materialized='group_versions') }}
        with orders as (select nullif(day, 2) as day, cast(amount as string) as amount from {{ ref('orders') }}),
        {{ tangles.group_versions('orders', 'day', ['amount']) }}
    """,
    "by_day.sql": """
        {{ config(materialized='replace_groups', meta={'group_versions': 'day_versions', 'group_key': 'day'}) }}
        select nullif(day, 2) as day, sum(amount) as total from {{ ref('orders') }}
        where {{ tangles.is_changed('nullif(day, 2)', ref('day_versions')) }} group by nullif(day, 2)
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


GROWN = """
    from dbt_spark_python.incremental.earlier import ExtendedTable, earlier


    def model(dbt, spark):
        dbt.config(materialized="group_versions", meta={"row_versions": True})
        orders, before = dbt.ref("orders"), earlier(spark, dbt.this)
        if before is None:
            return orders.selectExpr("*", "cast(1 as bigint) as version")
        new = orders.exceptAll(before.drop("version")).selectExpr("*", "cast(2 as bigint) as version")
        return ExtendedTable(new, before.selectExpr("raise_error('all rows are written') as failed"))
"""


@pytest.mark.spark_at_length
@pytest.mark.both
@pytest.mark.iceberg
@pytest.mark.delta
def test_only_the_new_rows_of_an_extended_table_are_written(nights):
    """A rebuild ignores the earlier rows."""
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


@pytest.mark.sail
def test_empty_tables_are_not_continued(nights):
    """`--empty` builds such tables, to try the code of models."""
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
    assert nights.run()[name] == "unchanged"
    nights.change(("a", 3, 1))
    assert nights.run()[name] == "OK"
    compiled = nights.built.warehouse / "target" / nights.built.schema / "compiled" / "tangles" / "models"
    (file,) = compiled.rglob(f"{name}.sql")
    assert "where version > 1" in file.read_text()
    nights.change(("a", 4, -100))
    assert "Got 1 result" in nights.run()[name]
    nights.change(("b", 1, 1))
    assert "Got 1 result" in nights.run()[name]
    assert "where version > 2" in file.read_text()
    nights.change(("a", 5, 100))
    assert nights.run()[name] == "OK"
    nights.check()


@pytest.mark.spark_at_length
@pytest.mark.sail
@pytest.mark.iceberg
@pytest.mark.rest
def test_a_process_that_is_killed(nights):
    """It is killed between two tables; the next build gives the tables of a full build."""
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


@pytest.mark.both
@pytest.mark.spark_at_length
@pytest.mark.iceberg
def test_any_nights_end_in_the_tables_of_a_full_build(nights, monkeypatch):
    """With partial and failing runs and with lost tables."""
    chance = random.Random(7)
    nights.run()
    for _ in range(8 if ENGINE == "sail" else 4):
        change_orders(nights, chance)
        fails, lost = (
            chance.choice(["", "", "sums", "days"]),
            chance.choice(["-", "-", "sums", "changed_orders", "days"]),
        )
        nights.lose(lost)
        monkeypatch.setenv(FAILS, fails)
        selection = chance.choice(SELECTIONS)
        nights.run(*selection)
        monkeypatch.setenv(FAILS, "")
        if chance.random() < 0.4:
            nights.run()
            nights.check()
    nights.run()
    nights.check()
    assert set(nights.run().values()) == {"unchanged"}
