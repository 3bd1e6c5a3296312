"""`tangles sql --out` and `--format`: the rows of a query as CSV, JSON lines or parquet, in files and pipes."""

import csv
import io
import json
import os
import pty
import stat
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import cli_story as story
from cli_kit import HOSTILE, Warehouse
from dbt_tangles.cli import row_files
from dbt_tangles.cli.cli import main

AUTHORS = "select author from feeds order by 1"
WRITTEN = f"author\n{story.ALICE}\n{story.BOB}\n"


@pytest.fixture
def warehouse(tmp_path, monkeypatch) -> Warehouse:
    monkeypatch.chdir(tmp_path)
    return story.write(tmp_path / "w'h")


def rows_of(warehouse: Warehouse, *words: str) -> bytes:
    result = CliRunner().invoke(main, ["sql", "--warehouse", str(warehouse.root), *words])
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
    assert {row["message_id"]: row["depth"] for row in lines} == {
        **{story.ROOT: 0, story.A1: 1, story.A2: 2},
        **{story.B1: None, story.B2: None},
    }


def test_parquet(warehouse, tmp_path):
    out = tmp_path / "out.parquet"
    out.write_text("old")
    assert rows_of(warehouse, "from tangle_messages", "--out", str(out)) == b""
    expected = pq.read_table(warehouse.folder / "tangle_messages")
    assert pq.read_table(out).to_pylist() == expected.to_pylist()
    assert pq.read_table(out).column_names == expected.column_names
    query = ["select * from feeds where author = $a", "--value", f"a={story.BOB}", "--format", "parquet"]
    assert pq.read_table(io.BytesIO(rows_of(warehouse, *query))).num_rows == 1
    assert {path.name for path in tmp_path.iterdir()} == {"w'h", "out.parquet"}


def test_every_row_is_written(warehouse, tmp_path):
    for form in ("csv", "JSONL", "parquet"):
        rows_of(warehouse, "from range(25000)", "--out", str(tmp_path / f"out.{form}"))
    assert (tmp_path / "out.csv").read_text().count("\n") == 25_001
    assert (tmp_path / "out.JSONL").read_text().count("\n") == 25_000
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 25_000


def test_texts_of_logs_are_kept(tmp_path):
    """CSV and JSON hold the texts as they are; JSON escapes them."""
    warehouse = Warehouse(tmp_path / "wh").write("feeds", story.feed(HOSTILE, 1, HOSTILE))
    text = rows_of(warehouse, "from feeds", "--format", "csv").decode()
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert row["author"] == HOSTILE
    lines = rows_of(warehouse, "from feeds", "--format", "jsonl").decode()
    assert lines.rstrip("\n").isprintable() and json.loads(lines)["author"] == HOSTILE


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["from feeds", "--out", "w'h/x.csv"], "is inside the warehouse"),
        (["from feeds", "--out", "no/folder/x.csv"], "cannot be written"),
        (["from feeds", "--out", "."], "the suffix names no format"),
        (["from feeds", "--out", ".", "--format", "csv"], "cannot be written: Is a directory"),
        (["from feeds", "--out", "x.xlsx"], "end it in .csv, .jsonl or .parquet, or give --format"),
        (["from feeds", "--out", "x"], "the suffix names no format"),
        (["select 1 as a, 2 as a", "--out", "x.csv"], "two columns of the query have the name 'a'"),
        (["select 1 as a, 2 as a", "--out", "x.jsonl"], "two columns of the query have the name 'a'"),
        (["select 1 as a, 2 as a", "--out", "x.parquet"], "two columns of the query have the name 'a'"),
        (["select interval 1 day as i", "--out", "x.parquet"], "parquet cannot hold a column"),
        (["select author from nowhere", "--out", "x.parquet"], "The tables are: "),
        (["from feeds", "--out", "x.csv", "--json"], "without --json and --limit"),
        (["from feeds", "--format", "csv", "--limit", "1000"], "without --json and --limit"),
    ],
)
def test_wrong_use(warehouse, tmp_path, words, said):
    result = warehouse.ask("sql", *words)
    assert result.exit_code == 2 and said in result.stderr and result.stdout == ""
    assert {path.name for path in tmp_path.iterdir()} == {"w'h"}


def test_a_pipe_is_written_in_place(warehouse, tmp_path):
    os.mkfifo(tmp_path / "rows.csv")
    with subprocess.Popen(["timeout", "60", "cat", str(tmp_path / "rows.csv")], stdout=subprocess.PIPE) as reader:
        rows_of(warehouse, AUTHORS, "--out", str(tmp_path / "rows.csv"))
        assert reader.communicate()[0].decode() == WRITTEN
    assert stat.S_ISFIFO((tmp_path / "rows.csv").stat().st_mode)
    assert {path.name for path in tmp_path.iterdir()} == {"w'h", "rows.csv"}


@pytest.mark.parametrize(
    "place",
    ["/dev/stdout", *(pytest.param(place, marks=pytest.mark.long) for place in ("/dev/fd/1", "/proc/self/fd/1"))],
)
def test_the_standard_output(warehouse, tmp_path, place):
    """A pipe or a file behind the standard output gets the rows after its earlier content, and stays the same file."""
    before = os.lstat(place)
    command = command_of(warehouse, AUTHORS, "--out", place, "--format", "csv")
    assert subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout == WRITTEN
    for mode in ("w", "a"):
        with (tmp_path / mode).open(mode) as out:
            out.write("head\n")
            out.flush()
            subprocess.run(command, stdout=out, check=True)
        assert (tmp_path / mode).read_text() == f"head\n{WRITTEN}"
    assert stat.S_IFMT(os.lstat(place).st_mode) == stat.S_IFMT(before.st_mode)


@pytest.mark.parametrize("place", ["stdout", pytest.param("/dev/stdout", marks=pytest.mark.long), "tty"])
def test_a_terminal_shows_escaped_texts(tmp_path, place):
    """The terminal may also be named as a file; parquet is refused there."""
    warehouse = Warehouse(tmp_path / "wh").write("feeds", story.feed(HOSTILE, 1, HOSTILE))
    main_end, terminal = pty.openpty()
    named = [] if place == "stdout" else ["--out", os.ttyname(terminal) if place == "tty" else place]
    pipes = {"stdout": subprocess.PIPE if place == "tty" else terminal, "stderr": subprocess.PIPE}
    command = command_of(warehouse, "select author from feeds", *named)
    refused = subprocess.run([*command, "--format", "parquet"], **pipes, check=False)
    assert refused.returncode == 2 and b"parquet is binary" in refused.stderr
    subprocess.run([*command, "--format", "csv"], **pipes, check=True)
    os.close(terminal)
    shown = os.read(main_end, 65_536).decode()
    os.close(main_end)
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
    """Each run takes another name; a link of that name is refused and not followed."""
    names = []
    found = row_files.os.replace
    monkeypatch.setattr(row_files.os, "replace", lambda old, new: (names.append(old.name), found(old, new)))
    for _ in range(2):
        rows_of(warehouse, AUTHORS, "--out", "x.csv")
    assert len(set(names)) == 2 and not [name for name in names if "x.csv" in name]
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
