"""Nights on tables of Iceberg and Delta Lake: commits, readers, maintenance and retention."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import ENGINE, FORMATS
from dbt_spark_python.fences.known_session import find_session
from dbt_spark_python.incremental.snapshot_tables import SnapshotTables
from dbt_spark_python.incremental.tables import ChangedGroups
from dbt_spark_python.table_store.public_folders import Publication
from shop_nights import FIRST
from shop_project import expected_sums


@pytest.mark.iceberg
@pytest.mark.delta
def test_a_commit_without_its_manifest_is_made_again(nights, monkeypatch):
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
    session, schema, form = find_session(), nights.built.schema, FORMATS[ENGINE]
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
    model = nights.built.project_dir / "models" / "shops.sql"
    for kind in ("view", "view", "table", "view"):
        model.write_text(f"{{{{ config(materialized='{kind}') }}}} select distinct shop from {{{{ ref('orders') }}}}")
        assert nights.run()["shops"] == "OK"
        assert nights.rows("shops") == [("a",), ("b",), ("c",), (None,)]
