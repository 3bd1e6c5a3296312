"""Tables are read in place while builds replace, move or damage them."""

import itertools
import re
import shutil
import threading
import time

import pytest
import yaml

import cli_story
from conftest import ROOT
from dbt_spark_python.table_store.atomic_swap import replace_folder
from dbt_tangles.cli import init, missing_tables, options
from dbt_tangles.cli.log_places import LOGS
from dbt_tangles.cli.tables import CommandError, Tables


@pytest.fixture
def warehouse(tmp_path):
    return cli_story.write(tmp_path / "wh")


def test_tables_that_are_not_built_are_named(warehouse):
    """Without a table the answer states neither that rows are absent nor that all is well."""
    for table in ("feeds", "tangle_messages"):
        shutil.rmtree(warehouse.folder / table)
    tables = Tables(warehouse.root, "tangles")
    assert tables.rows("select * from feeds") == [] and tables.missing == {"feeds"}
    result = warehouse.ask("why", cli_story.A1)
    text = result.stdout
    assert result.exit_code == 0 and "tables that are not built, so the answer lacks their rows: feeds, " in text
    assert "feed: unknown, because the table feeds is not built" in text and "none" not in text
    assert "tangles: unknown, because the table tangle_messages is not built" in text
    answer = warehouse.json("why", cli_story.A1)
    assert answer["unknown"] == ["feeds", "tangle_messages"] and not answer["is_well"]
    assert {*answer["unknown"]} <= {*answer["missing_tables"]}
    warehouse.write("pzp_messages", {"message_id": "abc", "is_usable": True})
    assert "sets: unknown, because the table set_messages is not built" in warehouse.ask("why", "abc").stdout
    assert not warehouse.json("why", "abc")["is_well"]


def test_answers_are_consistent_during_a_build(warehouse, tmp_path):
    """A build replaces tables during the queries; each answer comes from one complete table."""
    tables = Tables(warehouse.root, "tangles")
    folder, other, done = warehouse.folder / "feeds", tmp_path / "other", threading.Event()

    def build():
        for number in itertools.count():
            shutil.copytree(folder, other)
            for file in other.iterdir():
                file.rename(other / f"part-{number}.parquet")
            replace_folder(other, folder, tmp_path / "aside")
            shutil.rmtree(other)
            if done.is_set():
                return
            time.sleep(0.02)

    builder = threading.Thread(target=build)
    builder.start()
    try:
        for _ in range(100):
            assert len(tables.rows("select * from feeds")) == 2
    finally:
        done.set()
        builder.join()


def test_hidden_files_are_ignored(warehouse):
    (warehouse.folder / "feeds" / "_table.json").write_text("{}")
    (warehouse.folder / "feeds" / ".part-0.parquet.crc").write_text("x")
    (warehouse.folder / "feeds" / "_x.parquet").write_text("x")
    assert len(Tables(warehouse.root, "tangles").rows("select * from feeds")) == 2


def test_a_table_of_another_version(warehouse):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"author": ["x"]}), warehouse.folder / "feeds" / "part-0.parquet")
    with pytest.raises(CommandError, match=r"tables of another version \(feeds\)"):
        Tables(warehouse.root, "tangles").rows("select status from feeds")


@pytest.mark.parametrize("schema", ["../tangles", "Tangles", "1", "", "a b"])
def test_an_unknown_schema(warehouse, schema):
    with pytest.raises(CommandError, match=r"--schema .*: not a schema name; use lower-case"):
        Tables(warehouse.root, schema)


def test_defaults_are_those_of_the_profile():
    profile = (ROOT / "profiles.yml").read_text()
    (warehouse,) = set(re.findall(r"spark.dbt.warehouse: .*'TANGLES_WAREHOUSE', '(\w+)'", profile))
    schemas = {output["schema"] for output in yaml.safe_load(profile)["tangles"]["outputs"].values()}
    (schema,) = {re.search(r"'TANGLES_SCHEMA', '(\w+)'", each)[1] for each in schemas}

    @options.with_tables
    def function():
        pass

    assert {each.default for each in function.__click_params__} == {warehouse, schema}


def test_files_with_secrets_are_not_read():
    """Staging holds the keys of groups: only one module reads it, and only ids and places of lines."""
    for path in (ROOT / "src" / "dbt_tangles").glob("*/*.py"):
        if path.parent.name in ("cli", "report", "why") and path.name != "log_places.py":
            assert "stg_" not in path.read_text(), path.name
    text = (ROOT / "src" / "dbt_tangles" / "cli" / "log_places.py").read_text()
    secret = {"epoch_key", "content", "claims", "group_claim", "value", "add", "raw"}
    for sql in [*re.findall(r'f"""(select.+?)"""', text, re.DOTALL), repr(LOGS)]:
        assert not secret & set(re.findall(r"\w+", sql)) and "*" not in sql.replace("count(*)", ""), sql


def test_a_warehouse_that_holds_other_schemas_names_them(tmp_path):
    """Schemas with tables of this project come first; folders without tables are not listed."""
    warehouse = cli_story.write(tmp_path / "wh")
    warehouse.folder.rename(tmp_path / "wh" / "shop_tangles.db")
    for folder in ("archive.db/orders", "shop_secret.db/stg_ssb__lines", "empty.db/.views", "logs/tangles"):
        (tmp_path / "wh" / folder).mkdir(parents=True)
    for command in (["status"], ["why", cli_story.A1], ["check"], ["report", "--out", str(tmp_path / "report")]):
        result = warehouse.ask(*command)
        assert result.exit_code == 2
        assert result.stderr == (
            f"tangles: {tmp_path / 'wh'}: the folder has no schema tangles; name one of its schemas "
            "with --schema: shop_tangles, archive, shop_secret\n"
        )


def test_tables_in_an_object_store_are_not_read(monkeypatch, tmp_path):
    """The error names the place and another way; the place is no missing folder."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match="s3a:/bucket/tables: the commands read warehouses of folders"):
        Tables("s3a://bucket/tables", "tangles")


@pytest.mark.parametrize(
    ("is_wheel", "told"),
    [
        (True, "run `tangles build LOG`, or `dbt build`"),
        (False, "run `make build` in the clone, or `tangles build LOG`"),
    ],
)
def test_how_to_build_is_told_as_the_package_was_installed(tmp_path, monkeypatch, is_wheel, told):
    monkeypatch.setattr(init, "project_folder", lambda: init.HERE / "project" if is_wheel else tmp_path)
    (tmp_path / "wh").mkdir()
    for folder, reason in (("wh", "the folder has no tables"), ("none", "the folder does not exist")):
        with pytest.raises(CommandError, match=f"{folder}: {reason}; {re.escape(told)}"):
            Tables(tmp_path / folder, "tangles")


@pytest.mark.parametrize(
    ("variables", "lacking"),
    [
        ([], ["group_epochs", "sets", "timeline_edits"]),
        ([("private_groups", "true")], ["group_epochs", "timeline_edits"]),
        ([("private_groups", "false")], ["timeline_edits"]),
    ],
    ids=["fixtures", "with groups", "without groups"],
)
def test_tables_of_logs_that_were_not_given_are_not_missing(warehouse, variables, lacking):
    log = [{"var": "ssb_log", "path": "/log", "files": 1, "bytes": 1, "lines": 1}] if variables else []
    warehouse.write("runs", cli_story.run("now", 1, inputs=log, vars=variables, tables=["tangles.feeds"]))
    for name in ("group_epochs", "sets", "timeline_edits"):
        shutil.rmtree(warehouse.folder / name, ignore_errors=True)
    tables = Tables(warehouse.root, "tangles")
    assert not any(map(tables.has, ("group_epochs", "sets", "timeline_edits")))
    assert missing_tables.lacking(tables) == lacking
    absent = "is not built; build it" if "sets" in lacking else "is built only with the var pzp_log; set it"
    shown = warehouse.ask("show", "nobody", "--kind", "set")
    assert shown.exit_code == 1 and f"sets {absent}" in shown.stderr


def test_tables_of_the_fixtures_are_left_out_once_a_log_is_built(warehouse):
    log = [{"var": "ssb_log", "path": "/log", "files": 1, "bytes": 1, "lines": 1}]
    runs = [cli_story.run("fixtures", 1, tables=["tangles.feeds", "tangles.feed_next"])]
    assert Tables(warehouse.write("runs", *runs).root, "tangles").has("feed_next")
    runs.append(cli_story.run("log", 2, inputs=log, tables=["tangles.ssb_messages"]))
    tables = Tables(warehouse.write("runs", *runs).root, "tangles")
    assert tables.has("ssb_messages") and not tables.has("feeds") and not tables.has("feed_next")
    runs.append(cli_story.run("fixtures again", 3, tables=["tangles.feeds"]))
    assert Tables(warehouse.write("runs", *runs).root, "tangles").has("feeds")
