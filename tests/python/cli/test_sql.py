"""`tangles sql`: printed results, what a query must not reach, and rows as CSV, JSON lines or parquet."""

import csv
import io
import json
import os
import pty
import stat
import subprocess
import sys
from datetime import datetime, timezone

import pyarrow.parquet as pq
import pytest

import cli_story as story
from cli_kit import HOSTILE, Warehouse
from conftest import ROOT
from dbt_tangles.cli import public_tables, row_files

#: A folder whose name is a glob and has a quote.
PLACE = "w'[h] {*}"


@pytest.fixture
def warehouse(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return story.write(tmp_path / PLACE).write("runs", story.run("one", 1, tables=["tangles.feeds"]))


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


def test_tables_of_other_models(warehouse):
    """A user's own tables are read beside ours; errors list them, and internal tables stay closed."""
    warehouse.write("feed_next").move("feed_next", "tangles", "my_feeds")
    for name in ("stg_mine", "int_tangle_depths", "tangle_missing", "orders", "of_delta_lake"):
        warehouse.write("feed_next").move("feed_next", "shop", name)
    (warehouse.root / "shop.db" / "of_delta_lake" / "_delta_log").mkdir()
    counts = ", ".join(f"(select count(*) from {name})" for name in ("my_feeds", "shop.orders", "feeds"))
    assert warehouse.json("sql", f"select {counts}")["rows"] == [[0, 0, 2]]
    for name in ("nowhere", "shop.stg_mine", "shop.int_tangle_depths"):
        result = warehouse.ask("sql", f"select * from {name}")
        assert result.exit_code == 2 and "\nTables of other models: my_feeds, shop.orders\n" in result.stderr


FILES = """
    select * from read_text('secret.txt')
    select * from read_csv('secret.txt', header = false)
    select * from 'secret.txt'
    select * from glob('*')
    select * from read_blob('http://127.0.0.1:9/x')
    select * from sniff_csv('secret.txt')
    select * from query('select * from read_text(''secret.txt'')')
    select * from tables
    select * from files
"""
STATEMENTS = """
    copy feeds to 'out.csv'
    copy (select 1) to 'out.csv'
    export database 'out'
    attach 'out.db'
    install httpfs
    load httpfs
    set threads = 1
    pragma enable_external_access
    create table x as select 1
    insert into feeds values (1)
    drop view feeds
    call pragma_version()
    select 1; select 2
    select 1; copy feeds to 'out.csv'
    selec 1
"""


@pytest.mark.parametrize("query", [*FILES.strip().splitlines(), *STATEMENTS.strip().splitlines(), "", "\ud800"])
def test_a_query_is_one_select_and_cannot_read_other_files(warehouse, tmp_path, query):
    (tmp_path / "secret.txt").write_text("hidden words")
    result = warehouse.ask("sql", query)
    assert result.exit_code == 2 and result.stdout == "" and "hidden" not in result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {PLACE, "secret.txt"}


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


AUTHORS = "select author from feeds order by 1"
WRITTEN = f"author\n{story.ALICE}\n{story.BOB}\n"


def rows_of(warehouse: Warehouse, *words: str) -> bytes:
    result = warehouse.ask("sql", *words)
    assert result.exit_code == 0, result.output
    return result.stdout_bytes


def command_of(warehouse: Warehouse, *words: str) -> list[str]:
    place = ["--warehouse", str(warehouse.root)]
    return [sys.executable, "-m", "dbt_tangles.cli.cli", "sql", *words, *place]


def test_csv_and_json_lines(warehouse):
    rows = list(csv.DictReader(io.StringIO(rows_of(warehouse, "from tangle_messages", "--format", "csv").decode())))
    assert {row["message_id"] for row in rows if row["is_member"] == "true"} == {story.ROOT, story.A1, story.A2}
    by_id = {row["message_id"]: row for row in rows}
    assert json.loads(by_id[story.B1]["blocked_by"]) == [story.GONE] and by_id[story.B1]["depth"] == ""
    lines = [*map(json.loads, rows_of(warehouse, "from tangle_messages", "--format", "jsonl").splitlines())]
    depths = {story.ROOT: 0, story.A1: 1, story.A2: 2, story.B1: None, story.B2: None}
    assert {row["message_id"]: row["depth"] for row in lines} == depths


def test_parquet(warehouse, tmp_path):
    out = tmp_path / "out.parquet"
    out.write_text("old")
    assert rows_of(warehouse, "from tangle_messages", "--out", str(out)) == b""
    assert pq.read_table(out).to_pylist() == pq.read_table(warehouse.folder / "tangle_messages").to_pylist()
    query = ["select * from feeds where author = $a", "--value", f"a={story.BOB}", "--format", "parquet"]
    assert pq.read_table(io.BytesIO(rows_of(warehouse, *query))).num_rows == 1
    assert {path.name for path in tmp_path.iterdir()} == {PLACE, "out.parquet"}


def test_every_row_is_written(warehouse, tmp_path):
    for form in ("csv", "JSONL", "parquet"):
        rows_of(warehouse, "from range(25000)", "--out", str(tmp_path / f"out.{form}"))
    assert (tmp_path / "out.csv").read_text().count("\n") == 25_001
    assert (tmp_path / "out.JSONL").read_text().count("\n") == 25_000
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 25_000


def test_texts_of_logs_are_kept(tmp_path):
    warehouse = Warehouse(tmp_path / "wh").write("feeds", story.feed(HOSTILE, 1, HOSTILE))
    text = rows_of(warehouse, "from feeds", "--format", "csv").decode()
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert row["author"] == HOSTILE
    lines = rows_of(warehouse, "from feeds", "--format", "jsonl").decode()
    assert lines.rstrip("\n").isprintable() and json.loads(lines)["author"] == HOSTILE
    assert warehouse.json("sql", "select author from feeds")["rows"] == [[HOSTILE]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["from feeds", "--out", f"{PLACE}/x.csv"], "is inside the warehouse"),
        (["from feeds", "--out", "no/folder/x.csv"], "cannot be written"),
        (["from feeds", "--out", "."], "the suffix names no format"),
        (["from feeds", "--out", ".", "--format", "csv"], "cannot be written: Is a directory"),
        (["from feeds", "--out", "x.xlsx"], "end it in .csv, .jsonl or .parquet, or give --format"),
        (["from feeds", "--out", "x"], "the suffix names no format"),
        *(
            (["select 1 as a, 2 as a", "--out", f"x.{form}"], "two columns of the query have the name 'a'")
            for form in row_files.FORMATS
        ),
        (["select interval 1 day as i", "--out", "x.parquet"], "parquet cannot hold a column"),
        (["select author from nowhere", "--out", "x.parquet"], "The tables are: "),
        (["from feeds", "--out", "x.csv", "--json"], "without --json and --limit"),
        (["from feeds", "--format", "csv", "--limit", "1000"], "without --json and --limit"),
    ],
)
def test_wrong_use(warehouse, tmp_path, words, said):
    result = warehouse.ask("sql", *words)
    assert result.exit_code == 2 and said in result.stderr and result.stdout == ""
    assert {path.name for path in tmp_path.iterdir()} == {PLACE}


def test_a_pipe_is_written_in_place(warehouse, tmp_path):
    os.mkfifo(tmp_path / "rows.csv")
    with subprocess.Popen(["timeout", "60", "cat", str(tmp_path / "rows.csv")], stdout=subprocess.PIPE) as reader:
        rows_of(warehouse, AUTHORS, "--out", str(tmp_path / "rows.csv"))
        assert reader.communicate()[0].decode() == WRITTEN
    assert stat.S_ISFIFO((tmp_path / "rows.csv").stat().st_mode)
    assert {path.name for path in tmp_path.iterdir()} == {PLACE, "rows.csv"}


def test_a_terminal_shows_escaped_texts(tmp_path):
    warehouse = Warehouse(tmp_path / "wh").write("feeds", story.feed(HOSTILE, 1, HOSTILE))
    main_end, terminal = pty.openpty()
    for named, stdout in (([], terminal), (["--out", os.ttyname(terminal)], subprocess.PIPE)):
        command = command_of(warehouse, "select author from feeds", *named)
        pipes = {"stdout": stdout, "stderr": subprocess.PIPE}
        refused = subprocess.run([*command, "--format", "parquet"], **pipes, check=False)
        assert refused.returncode == 2 and b"parquet is binary" in refused.stderr
        subprocess.run([*command, "--format", "csv"], **pipes, check=True)
        shown = os.read(main_end, 65_536).decode()
        assert shown.startswith("author\r\n") and shown.replace("\r\n", "").isprintable()


def test_links(warehouse, tmp_path):
    """A link to a file stays a link, and the file gets the rows; a link to no file makes it."""
    for name in ("old.csv", "new.csv"):
        (tmp_path / "link.csv").symlink_to(tmp_path / name)
        (tmp_path / "old.csv").write_text("old")
        rows_of(warehouse, AUTHORS, "--out", "link.csv")
        assert (tmp_path / "link.csv").is_symlink() and (tmp_path / name).read_text() == WRITTEN
        (tmp_path / "link.csv").unlink()


def test_the_partial_file_cannot_be_foreseen(warehouse, tmp_path, monkeypatch):
    """A link of that name is refused and not followed."""
    monkeypatch.setattr(row_files.secrets, "token_hex", lambda _: "foreseen")
    (tmp_path / "other").write_text("other")
    (tmp_path / ".foreseen.partial").symlink_to(tmp_path / "other")
    result = warehouse.ask("sql", AUTHORS, "--out", "x.csv")
    assert result.exit_code == 2 and "cannot be written: File exists" in result.stderr
    assert (tmp_path / "other").read_text() == "other" and (tmp_path / ".foreseen.partial").is_symlink()


@pytest.mark.parametrize("place", [[], ["--out", "pipe"]])
def test_a_reader_that_leaves(warehouse, tmp_path, place):
    os.mkfifo(tmp_path / "pipe")
    command = command_of(warehouse, "from range(1000000)", *place, "--format", "csv")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
        if place:
            with (tmp_path / "pipe").open("rb") as pipe:
                assert pipe.readline() == b"range\n"
        else:
            assert writer.stdout.readline() == b"range\n"
        writer.stdout.close()
        assert b"Traceback" not in writer.stderr.read()
