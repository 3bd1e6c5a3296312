"""Nights on tables of Iceberg and Delta Lake: commits, readers, maintenance and retention."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import ENGINE
from dbt_spark_python.incremental.snapshot_tables import SnapshotTables
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
    assert nights.manifest("sums") == ({} if ENGINE == "delta" else before)
    nights.run()
    nights.check()
    assert nights.facts("sums")[:2] == (0, 2)


@pytest.mark.iceberg
@pytest.mark.delta
def test_a_reader_sees_the_rows_before_a_run_or_after_it(nights):
    """Each reading of a table during a run is one of the two states."""
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
