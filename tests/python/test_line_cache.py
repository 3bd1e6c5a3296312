"""Lines with cached results are not checked again, even at another place."""

import hashlib
from pathlib import Path

import pyarrow as pa
import pytest

from dbt_spark_python.incremental.earlier import ExtendedTable
from dbt_spark_python.input_files import digest_input, find_tails
from dbt_spark_python.python_model.columns import write_no_rows
from dbt_tangles.ingest.line_format import Reading
from dbt_tangles.ingest.log_lines import LineCheck, Log, check_lines

SCHEMA = pa.schema(
    [
        ("source_file", pa.string()),
        ("line", pa.int64()),
        ("line_digest", pa.binary()),
        ("verdict", pa.string()),
    ]
)
MAX_BYTES = 20
LONG = "x" * 30


def checked_in(run: str):
    """A check that writes the number of its run into each row."""

    def check(batches):
        for batch in batches:
            faults, lines = batch.column("fault").to_pylist(), batch.column("raw").to_pylist()
            verdicts = [
                f"{run}: {fault or (line or b'')[:5].decode()}" for fault, line in zip(faults, lines, strict=True)
            ]
            columns = [batch.column(name) for name in SCHEMA.names[:-1]]
            yield pa.RecordBatch.from_arrays([*columns, pa.array(verdicts)], schema=SCHEMA)

    return check


@pytest.fixture(scope="module")
def runs(project, tmp_path_factory):
    """Build the table of a log from the table before, as often as requested."""
    folder = tmp_path_factory.mktemp("line_cache")
    project("line_cache").build("--select", "fixture_log", "--indirect-selection", "empty")
    from dbt_spark_python.fences.known_session import find_session

    spark = find_session()
    tables, noted = [], [""]

    def make(files: dict[str, str], known: bool = True, by_tail: bool = False, late: str = "") -> list[tuple]:
        log = folder / "log"
        log.mkdir(exist_ok=True)
        for path in log.iterdir():
            path.unlink()
        for name, text in files.items():
            (log / name).write_bytes(text.encode())
        noted.append(digest_input(str(log), "log"))
        if late:
            (log / late).write_text(files[late] + "late\n")
        tails = find_tails(*noted[-2:]) if by_tail else None
        before = spark.read.parquet(tables[-1]) if tables and known else None
        run = f"run {len(tables)}"
        made = check_lines(
            spark,
            Log("log", str(log), None),
            LineCheck(checked_in(run), SCHEMA),
            Reading(MAX_BYTES),
            before,
            tails,
        )
        make.is_grown = isinstance(made, ExtendedTable)
        last = max([0, *(row.version for row in before.select("version").collect())]) if before else 0
        if make.is_grown:
            assert {row.version for row in made.added.select("version").collect()} <= {last + 1}
            made, added = made.whole, before.unionByName(made.added)
            assert sorted(map(repr, made.collect())) == sorted(map(repr, added.collect()))
        else:
            assert {row.version for row in made.select("version").collect()} <= {last + 1}
        tables.append(str(folder / f"table{len(tables)}"))
        made.write.parquet(tables[-1])
        if not list(Path(tables[-1]).glob("*.parquet")):
            write_no_rows(Path(tables[-1]), made.schema)
        rows = spark.read.parquet(tables[-1]).collect()
        assert len({(row.source_file, row.line) for row in rows}) == len(rows)
        return sorted((row.source_file.rpartition("/")[2], row.line, row.verdict) for row in rows)

    make.versions = lambda: [
        (row.source_file.rpartition("/")[2], row.line, row.version)
        for row in spark.read.parquet(tables[-1]).orderBy("source_file", "line").collect()
    ]
    make.digests = lambda: {row.verdict: row.line_digest for row in spark.read.parquet(tables[-1]).collect()}
    return make


def by_file(rows: list[tuple]) -> dict[str, list[str]]:
    """Return the verdicts of each file by line, which are numbered from 1."""
    found: dict[str, list[str]] = {}
    for file, line, verdict in rows:
        found.setdefault(file, []).append(verdict)
        assert line == len(found[file])
    return found


@pytest.mark.both
def test_cached_lines_are_not_verified_again(runs):
    """Covers unchanged, moved, copied, new, removed and overlong lines, and lines of a damaged file."""
    assert by_file(runs({"a.txt": f"one\ntwo\ntwo\n{LONG}\n\n", "b.gz": "not packed\n"})) == {
        "a.txt": ["run 0: one", "run 0: two", "run 0: two", "run 0: xxxxx", "run 0: "],
        "b.gz": ["run 0: not_compressed"],
    }
    digests = runs.digests()
    assert digests["run 0: one"] == hashlib.sha256(b"one").digest()
    assert digests["run 0: "] == hashlib.sha256(b"").digest()
    assert digests["run 0: xxxxx"] is digests["run 0: not_compressed"] is None

    # The log grows, also by a copy of a known line; lines without a digest are checked again.
    assert by_file(runs({"a.txt": f"one\ntwo\ntwo\n{LONG}\n\nthree\none\n", "b.gz": "not packed\n"})) == {
        "a.txt": [*("run 0: one", "run 0: two", "run 0: two", "run 1: xxxxx", "run 0: ", "run 1: three", "run 0: one")],
        "b.gz": ["run 1: not_compressed"],
    }

    assert not runs.is_grown  # rows of lines that were checked again replace the old rows

    # The file gets another name, another order and other neighbours; lines change or are removed.
    assert by_file(runs({"c.txt": "three\none\nONE\n", "a.txt": "two\nthree\nfour\nfour\n"})) == {
        "a.txt": ["run 0: two", "run 1: three", "run 2: four", "run 2: four"],
        "c.txt": ["run 1: three", "run 0: one", "run 2: ONE"],
    }

    # A removed line is new when it comes back; all other lines are known.
    back = runs({"c.txt": "three\none\nONE\n", "a.txt": "two\nthree\nfour\nfour\n\n"})
    assert [verdict for _, _, verdict in back if verdict.startswith("run 3")] == ["run 3: "]
    assert runs.is_grown
    copied = runs({"c.txt": "three\none\nONE\n", "a.txt": "two\nthree\nfour\nfour\n\none\n"})
    assert sorted({*copied} - {*back}) == [("a.txt", 6, "run 0: one")]
    assert len(copied) == len(back) + 1
    assert runs.is_grown

    # Without the cache all lines are new.
    assert {verdict[:5] for _, _, verdict in runs({"c.txt": "three\none\n"}, known=False)} == {"run 5"}


@pytest.mark.both
def test_versions_of_rows(runs):
    """If the log grows, only new rows get a later version; if a row goes, all rows do."""
    first = [("a.txt", 1, 1), ("a.txt", 2, 1)]
    runs({"a.txt": "one\ntwo\n"}, known=False)
    assert runs.versions() == first
    runs({"a.txt": "one\ntwo\n"})
    assert runs.versions() == first
    assert runs.is_grown
    runs({"a.txt": "one\ntwo\nthree\n", "b.txt": "one\n"})  # a copy of a known line is a new row
    assert runs.versions() == [*first, ("a.txt", 3, 2), ("b.txt", 1, 2)]
    runs({"a.txt": "one\ntwo\nthree\nfour\n", "b.txt": "one\n"})
    assert runs.versions() == [*first, ("a.txt", 3, 2), ("a.txt", 4, 3), ("b.txt", 1, 2)]

    runs({"a.txt": "one\nTWO\nthree\nfour\n", "b.txt": "one\n"})
    assert not runs.is_grown
    assert runs.versions() == [*(("a.txt", number, 4) for number in range(1, 5)), ("b.txt", 1, 4)]
    runs({"a.txt": "one\nTWO\nthree\nfour\n"})
    assert [version for _, _, version in runs.versions()] == [5] * 4
    runs({"a.txt": ""})
    assert runs.versions() == []
    runs({"a.txt": "one\n"})
    assert [version for _, _, version in runs.versions()] == [1]
    runs({"a.txt": "one\n"}, known=False)
    assert [version for _, _, version in runs.versions()] == [1]


@pytest.mark.both
def test_more_rows_than_are_broadcast(runs, monkeypatch):
    monkeypatch.setattr("dbt_spark_python.incremental.earlier.MOST_BROADCAST_ROWS", 0)
    runs({"a.txt": "one\ntwo\n"}, known=False)
    found = runs({"b.txt": "two\nthree\none\n", "a.txt": "one\ntwo\n"})
    assert [verdict.partition(": ")[2] for _, _, verdict in found] == ["one", "two", "two", "three", "one"]
    assert len({verdict for _, _, verdict in found}) == 3


#: A log with an overlong line, without a line feed at a file's end, and with a file that cannot be read.
FIRST = {"a.txt": f"one\n{LONG}\n", "b.txt": "two", "c.txt": "", "d.gz": "not packed\n"}
MORE = FIRST["a.txt"] + "one\n\nfour\n"


def words(rows: list[tuple]) -> list[tuple]:
    """Return rows without the numbers of the runs that checked them."""
    return [(file, line, verdict.partition(": ")[2]) for file, line, verdict in rows]


@pytest.mark.both
@pytest.mark.parametrize(
    ("change", "is_by_tail"),
    [
        ({"a.txt": MORE, "c.txt": "five\nsix", "e.txt": "\n", "f.gz": "", "g.zip": "", "h.zip": "packed"}, True),
        ({"e.txt": ""}, True),
        pytest.param({"a.txt": MORE.replace("o", "0")}, False, id="other bytes"),
        pytest.param({"a.txt": "one\n"}, False, id="shorter"),
        pytest.param({"a.txt": MORE, "c.txt": None}, False, id="gone"),
        pytest.param({"b.txt": "twos\n"}, False, id="no line feed"),
        pytest.param({"a.txt": MORE, "d.gz": "not packed\n\n"}, False, id="compressed"),
    ],
)
def test_only_the_tails_of_a_log_are_read(runs, change, is_by_tail):
    """The overlong line is checked again if all lines are read. The rows are those of one build."""
    before = runs(FIRST, known=False)
    log = {name: text for name, text in (FIRST | change).items() if text is not None}
    found = runs(log, by_tail=True)
    again = {row for row in found if row not in before and row[:2] in {known[:2] for known in before}}
    assert (again == set()) == is_by_tail
    assert words(found) == words(runs(log, known=False))


@pytest.mark.both
def test_a_file_that_grows_while_it_is_read(runs):
    """The fingerprint lacks a line that the table has. A tail ends where its fingerprint ends."""
    runs(FIRST, known=False, late="a.txt")
    log = FIRST | {"a.txt": FIRST["a.txt"] + "late\n"}
    assert words(runs(log | {"a.txt": log["a.txt"] + "more\n"}, by_tail=True))[2:4] == [
        ("a.txt", 3, "late"),
        ("a.txt", 4, "more"),
    ]
    log["a.txt"] += "more\nand\n"
    assert ("a.txt", 6, "late") not in words(runs(log, by_tail=True, late="a.txt"))
    log["a.txt"] += "late\n"
    assert words(runs(log, by_tail=True)) == words(runs(log, known=False))
