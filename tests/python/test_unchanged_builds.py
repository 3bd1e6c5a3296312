"""A repeated build rebuilds only tables whose result would differ; --full-refresh rebuilds all."""

import base64
import shutil

import pytest

from conftest import DATA
from dbt_spark_python.table_store import manifest

MODELS = ("--select", "+feeds", "ssb_rejects", "stg_events__lines", "runs")
UNIT = ("--exclude-resource-type", "unit_test")
#: Tables that are not computed from messages.
OTHERS = {"stg_events__lines", "stg_tables__lines"}
#: Each run writes to `runs`, so its tests have new rows to read.
ALWAYS = {"runs"}
#: Tables with the rows of changed groups alone.
WORKING_SETS = {"int_feed_links", "int_feed_chain"}


def build(built, *options: str, command: str = "build"):
    """Run dbt; return the names of built tables, of tests, and of unchanged nodes."""
    result = built.invoke_parsed(command, *MODELS, *options)
    assert result.success, [f"{r.node.name}: {r.message}" for r in result.result or [] if r.status in ("error", "fail")]
    ran, left = set(), set()
    for r in result.result:
        if r.node.resource_type in ("model", "test", "unit_test", "seed"):
            (left if r.adapter_response.get("_message") == "unchanged" else ran).add(r.node.name)
    return ran, left


def tables(names: set[str]) -> set[str]:
    """Return the nodes that are tables of this selection."""
    return {
        name for name in names if name.startswith(("stg_", "int_")) or name in {"feeds", "ssb_messages", "runs"}
    } | (names & {"ssb_rejects", "feed_messages"})


def newest_run(built) -> dict:
    return max(built.rows("runs"), key=lambda row: row["started_at"])


def rows(built, name: str) -> list:
    """Read a table's rows in a fixed order, without the versions, which count runs."""
    columns = [column for column in built.table(name).column_names if column != "version"]
    return built.sorted_rows(name, columns)


@pytest.fixture
def logs(tmp_path):
    """A log of messages without its last lines, and a log of events."""
    text = (DATA / "ssb" / "small.jsonl").read_text()
    lines = [f"{line}\n" for line in text.split("\n") if line.strip()]
    (tmp_path / "ssb.jsonl").write_text("".join(lines[:-20]))
    (tmp_path / "events.jsonl").write_text('{"timeline": "t", "event": "a", "after": [], "arrival": 0}\n')
    return tmp_path, lines


def variables(folder) -> dict:
    return {"ssb_log": str(folder / "ssb.jsonl"), "event_log": str(folder / "events.jsonl")}


@pytest.mark.both
def test_a_log_that_grows(project, logs):
    """An unchanged log rebuilds only tables about runs; a grown one rebuilds its tables, which equal a full build's."""
    folder, lines = logs
    grown = project("grown", **variables(folder))
    ran, left = build(grown, *UNIT)
    assert not left
    everything = set(newest_run(grown)["tables"])
    assert set(newest_run(grown)["changed_tables"]) == everything
    first = grown.rows("feeds")

    again, left = build(grown, *UNIT)
    assert tables(again) == ALWAYS
    assert ran - again == left
    assert {test for test in again if "runs" not in test and test != "a_table_is_of_one_run"} == set()
    run = newest_run(grown)
    assert set(run["tables"]) == everything
    assert run["changed_tables"] == []
    path = folder / "ssb.jsonl"
    given = {"var": "ssb_log", "path": str(path), "files": 1, "bytes": path.stat().st_size, "lines": len(lines) - 20}
    assert run["inputs"][1] == given

    (folder / "ssb.jsonl").write_text("".join(lines))
    again, left = build(grown, *UNIT)
    assert tables(left) == OTHERS
    assert {"stg_ssb__lines", "ssb_messages", "feeds"} <= again
    assert {name.split(".")[1] for name in newest_run(grown)["changed_tables"]} >= {"stg_ssb__lines", "feeds"}
    assert grown.rows("feeds") != first

    at_once = project("at_once", **variables(folder))
    build(at_once, command="run")
    assert tables(ran) > WORKING_SETS
    for table in sorted(tables(ran) - ALWAYS - WORKING_SETS):
        assert rows(grown, table) == rows(at_once, table), table


@pytest.mark.long
def test_another_key_of_the_network_rebuilds_its_tables(project, logs, monkeypatch):
    built = project("decided", **variables(logs[0]))
    build(built, command="run")
    monkeypatch.setenv("TANGLES_SSB_HMAC_KEY", base64.b64encode(bytes(32)).decode())
    ran, left = build(built, command="run")
    assert tables(ran) > {"stg_ssb__lines", "ssb_messages"} and "stg_events__lines" in left


def changes(built) -> dict[str, dict[str, tuple]]:
    """Read `run_changes`, by run and table."""
    found: dict[str, dict[str, tuple]] = {}
    for row in built.rows("run_changes"):
        counts = tuple(row[name] for name in ("rows_added", "rows_changed", "rows_removed"))
        found.setdefault(row["run_id"], {})[row["table_name"].split(".")[1]] = counts
    return found


@pytest.mark.long
@pytest.mark.both
def test_run_changes_counts_changed_rows(project, logs):
    """`run_changes` counts changed keys of public tables; unchanged runs and runs with it disabled write no counts."""
    folder, lines = logs
    built = project("counted", **variables(folder))

    def run() -> tuple[str, dict[str, list]]:
        build(built, command="run")
        return newest_run(built)["run_id"], {name: built.rows(name) for name in ("feeds", "ssb_messages")}

    def by_key(rows: list[dict], key: str) -> dict[str, dict]:
        return {row[key]: row for row in rows}

    first, before = run()
    assert changes(built)[first]["feeds"] == (len(before["feeds"]), 0, 0)
    assert "stg_ssb__lines" not in changes(built)[first]
    build(built, command="run")
    assert changes(built).keys() == {first}

    place = built.warehouse / "counted.db" / "run_changes"
    kept = {"run_changes": place, "manifests": manifest.path_of(place).parent}
    for name, path in kept.items():
        shutil.copytree(path, folder / name)
    (folder / "ssb.jsonl").write_text("".join(lines[5:]))
    second, after = run()
    for name, key in (("feeds", "author"), ("ssb_messages", "message_id")):
        was, now = by_key(before[name], key), by_key(after[name], key)
        other = sum(was[id_] != now[id_] for id_ in was.keys() & now.keys())
        counts = (len(now.keys() - was.keys()), other, len(was.keys() - now.keys()))
        assert changes(built)[second][name] == counts
        assert sum(counts) > 0

    # A run was killed before it ended: the next one records its changes.
    for name, path in kept.items():
        shutil.rmtree(path)
        (folder / name).rename(path)
    assert changes(built).keys() == {first}
    build(built, command="run")
    assert changes(built).keys() == {first, second}

    built.vars["count_changes"] = False
    (folder / "ssb.jsonl").write_text("".join(lines))
    third, _ = run()
    assert "counted.feeds" in newest_run(built)["changed_tables"]
    assert third not in changes(built)
