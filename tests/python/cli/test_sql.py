"""`tangles sql`: printed results, and what a query must not reach."""

from datetime import datetime, timezone

import pytest

import cli_story as story
from cli_kit import HOSTILE, Warehouse, assert_harmless
from conftest import ROOT
from dbt_tangles.cli import public_tables
from dbt_tangles.cli.tables import CommandError, Tables


@pytest.fixture
def warehouse(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return story.write(tmp_path / "w'h").write("runs", story.run("one", 1, tables=["tangles.feeds"]))


def test_a_table_of_text(warehouse):
    result = warehouse.ask("sql", "select author, verified_length from feeds order by 1")
    assert result.exit_code == 0
    lines = ["author          verified_length", "@alice.ed25519  3", "@bob.ed25519    2", "2 rows"]
    assert result.stdout.splitlines() == lines


def test_as_data(warehouse):
    query = """select 1 as n, 1.5::decimal(3, 1) as d, [1, null] as l, {'a': true} as s, map {'k': 1} as m,
        'x'::blob as b, null as z, 'nan'::double as f, sum(verified_length) as t, any_value(started_at) as at
        from feeds, runs"""
    answer = warehouse.json("sql", query)
    at = datetime(2026, 1, 1, 1, tzinfo=timezone.utc)
    assert answer["rows"] == [[1, "1.5", [1, None], {"a": True}, {"k": 1}, "78", None, "nan", 5, str(at)]]
    assert [column["name"] for column in answer["columns"]] == [*"ndlsmbzft", "at"]
    assert answer["columns"][0]["type"] == "INTEGER" and answer["is_cut"] is False


def test_values(warehouse):
    """Values are JSON, or texts; each name of the query has one."""
    query = "select $text as t, $number + 1 as n, len($list) as l, $quoted as q"
    given = ["--value=text=@bob.ed25519", "--value=number=2", '--value=list=["a", "b"]', '--value=quoted="1=2"']
    assert warehouse.json("sql", query, *given)["rows"] == [["@bob.ed25519", 3, 2, "1=2"]]
    found = warehouse.json("sql", "select verified_length from feeds where author = $a", "--value", "a=@bob.ed25519")
    assert found["rows"] == [[2]]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], "the query lacks the value of $b; give --value b=VALUE"),
        (["--value", "a=1", "--value", "b=1"], "--value a: the query has no $a; remove the option, or write its name"),
        (["--value", "b"], "No function matches"),
    ],
)
def test_values_must_be_those_of_the_query(given, expected, warehouse):
    result = warehouse.ask("sql", "select 1 + [$b]", *given)
    assert result.exit_code == 2 and expected in result.stderr


def test_limit(warehouse):
    answer = warehouse.json("sql", "select * from range(5)", "--limit", "2")
    assert answer["rows"] == [[0], [1]] and answer["is_cut"]
    assert "2 rows; more rows are left out" in warehouse.ask("sql", "from range(5)", "--limit", "2").stdout


def test_public_tables_are_the_models_of_the_marts():
    models = {path.stem for folder in ("models", "python_models") for path in (ROOT / folder / "marts").rglob("*.sql")}
    assert {*public_tables.public_names()} >= models and "ssb_messages" in models
    assert not [name for name in public_tables.public_names() if name.startswith(("stg_", "int_"))]


def test_internal_tables_are_no_views(warehouse):
    warehouse.write("stg_ssb__lines", {"message_id": "%secret"})
    result = warehouse.ask("sql", "select * from stg_ssb__lines")
    assert result.exit_code == 2 and "The tables are: feed_messages, feed_next, feeds, runs," in result.stderr
    for path in ("{}/stg_ssb__lines/*.parquet", "{}/stg_ssb__lines/part-0.parquet"):
        place = path.format(warehouse.folder).replace("'", "''")
        result = warehouse.ask("sql", f"select * from read_parquet('{place}')")
        assert result.exit_code == 2 and "%secret" not in result.output


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_text('secret.txt')",
        "select * from read_csv('secret.txt', header = false)",
        "select * from 'secret.txt'",
        "select * from glob('*')",
        "select * from read_blob('http://127.0.0.1:9/x')",
        "select * from sniff_csv('secret.txt')",
        "select * from query('select * from read_text(''secret.txt'')')",
        "select * from tables",
        "select * from files",
    ],
)
def test_a_query_cannot_read_other_files(warehouse, tmp_path, query):
    """Other files, networks and Python variables are out of reach."""
    (tmp_path / "secret.txt").write_text("hidden words")
    result = warehouse.ask("sql", query)
    assert result.exit_code == 2 and "hidden" not in result.output and "secret.txt" not in result.stdout


@pytest.mark.parametrize(
    "query",
    [
        "copy feeds to 'out.csv'",
        "copy (select 1) to 'out.csv'",
        "export database 'out'",
        "attach 'out.db'",
        "install httpfs",
        "load httpfs",
        "set threads = 1",
        "pragma enable_external_access",
        "create table x as select 1",
        "insert into feeds values (1)",
        "drop view feeds",
        "call pragma_version()",
        "select 1; select 2",
        "select 1; copy feeds to 'out.csv'",
        "",
        "selec 1",
        "\ud800",
    ],
)
def test_one_select_only(warehouse, tmp_path, query):
    result = warehouse.ask("sql", query)
    assert result.exit_code == 2 and result.stdout == ""
    assert {path.name for path in tmp_path.iterdir()} == {"w'h"}


def test_the_configuration_is_locked(warehouse):
    """If another statement passed the check, DuckDB would refuse it."""
    (file,) = (warehouse.folder / "feeds").iterdir()
    connection = public_tables._connect({"feeds": [str(file)]})
    place = str(file).replace("'", "''")
    for statement in (
        "set enable_external_access = true",
        "copy feeds to 'out.csv'",
        f"copy (select 1) to '{place}.new'",
        "attach 'x.db'",
        "install httpfs",
    ):
        with pytest.raises(Exception, match=r"disabled|locked|Cannot"):
            connection.execute(statement)
    assert [*(warehouse.folder / "feeds").iterdir()] == [file]


def test_a_build_that_replaces_a_table(warehouse, monkeypatch):
    replaced = []
    found = public_tables._connect

    def connect(files):
        connection = found(files)
        if not replaced:
            (file,) = (warehouse.folder / "feeds").iterdir()
            replaced.append(file.rename(file.with_name("new.parquet")))
        return connection

    monkeypatch.setattr(public_tables, "_connect", connect)
    answer = warehouse.json("sql", "select count(*) from feeds")
    assert answer["rows"] == [[2]] and replaced


def test_a_damaged_file(warehouse):
    (file,) = (warehouse.folder / "feeds").iterdir()
    file.write_bytes(b"PAR1 no parquet")
    result = warehouse.ask("sql", "select * from feeds")
    assert result.exit_code == 2 and result.stdout == "" and "part-0.parquet" in result.stderr


def test_names_of_folders_that_are_globs(tmp_path):
    warehouse = story.write(tmp_path / "w[h] {*}")
    assert warehouse.json("sql", "select count(*) from feeds")["rows"] == [[2]]


def test_hostile_texts(tmp_path):
    feed = story.feed(HOSTILE, 1, HOSTILE)
    warehouse = Warehouse(tmp_path / "wh").write("feeds", feed)
    quoted = HOSTILE.replace("\x00", "").replace('"', '""')
    for query in ("select * from feeds", f'select 1 as "{quoted}"', f"select '{quoted}"):
        for words in ([], ["--json"]):
            assert_harmless(warehouse.ask("sql", query, *words))
    assert warehouse.json("sql", "select author from feeds")["rows"] == [[HOSTILE]]


def test_a_query_that_fails_is_named(tmp_path):
    tables = Tables(story.write(tmp_path / "wh").root, "tangles")
    with pytest.raises(CommandError, match="nope"):
        public_tables.ask(tables, "select nope from feeds", lambda connection: connection.execute("select nope"))
