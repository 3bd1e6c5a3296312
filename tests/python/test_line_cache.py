"""Lines with cached results are not checked again, even at another place."""

import hashlib
from pathlib import Path

import pyarrow as pa
import pytest

from dbt_spark_python.incremental.earlier import ExtendedTable
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
    from dbt_spark_python.session.connection import process_session

    spark = process_session()
    tables = []

    def make(files: dict[str, str], known: bool = True) -> list[tuple]:
        log = folder / "log"
        log.mkdir(exist_ok=True)
        for path in log.iterdir():
            path.unlink()
        for name, text in files.items():
            (log / name).write_bytes(text.encode())
        before = spark.read.parquet(tables[-1]) if tables and known else None
        run = f"run {len(tables)}"
        made = check_lines(
            spark, Log("log", str(log), None), LineCheck(checked_in(run), SCHEMA), Reading(MAX_BYTES), known=before
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


@pytest.mark.both
def test_cached_lines_are_not_verified_again(runs):
    """Covers unchanged, moved, copied, new, removed and overlong lines, and lines of a damaged file."""
    assert runs({"a.txt": f"one\ntwo\ntwo\n{LONG}\n\n", "b.gz": "not packed\n"}) == [
        ("a.txt", 1, "run 0: one"),
        ("a.txt", 2, "run 0: two"),
        ("a.txt", 3, "run 0: two"),
        ("a.txt", 4, "run 0: xxxxx"),
        ("a.txt", 5, "run 0: "),
        ("b.gz", 1, "run 0: not_compressed"),
    ]
    digests = runs.digests()
    assert digests["run 0: one"] == hashlib.sha256(b"one").digest()
    assert digests["run 0: "] == hashlib.sha256(b"").digest()
    assert digests["run 0: xxxxx"] is digests["run 0: not_compressed"] is None

    # The log grows, also by a copy of a known line; lines without a digest are checked again.
    assert runs({"a.txt": f"one\ntwo\ntwo\n{LONG}\n\nthree\none\n", "b.gz": "not packed\n"}) == [
        ("a.txt", 1, "run 0: one"),
        ("a.txt", 2, "run 0: two"),
        ("a.txt", 3, "run 0: two"),
        ("a.txt", 4, "run 1: xxxxx"),
        ("a.txt", 5, "run 0: "),
        ("a.txt", 6, "run 1: three"),
        ("a.txt", 7, "run 0: one"),
        ("b.gz", 1, "run 1: not_compressed"),
    ]

    assert not runs.is_grown  # rows of lines that were checked again replace the old rows

    # The file gets another name, another order and other neighbours; lines change or are removed.
    assert runs({"c.txt": "three\none\nONE\n", "a.txt": "two\nthree\nfour\nfour\n"}) == [
        ("a.txt", 1, "run 0: two"),
        ("a.txt", 2, "run 1: three"),
        ("a.txt", 3, "run 2: four"),
        ("a.txt", 4, "run 2: four"),
        ("c.txt", 1, "run 1: three"),
        ("c.txt", 2, "run 0: one"),
        ("c.txt", 3, "run 2: ONE"),
    ]

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


@pytest.mark.spark
def test_lines_keep_their_places_if_spark_splits_a_file_elsewhere(runs):
    """Spark's splits depend on the size of the whole log, so they move when it grows."""
    from dbt_spark_python.session.connection import process_session

    conf, size = process_session().conf, "spark.sql.files.maxPartitionBytes"
    lines, usual = [f"{number:03}\n" for number in range(300)], conf.get(size)
    try:
        conf.set(size, 500)
        runs({"a.txt": "".join(lines[:299]), "b.txt": "one\n"}, known=False)
        before = runs.versions()
        assert before == [*(("a.txt", number, 1) for number in range(1, 300)), ("b.txt", 1, 1)]
        conf.set(size, 700)
        runs({"a.txt": "".join(lines), "b.txt": "one\n"})
    finally:
        conf.set(size, usual)
    assert runs.is_grown
    assert runs.versions() == [*before[:-1], ("a.txt", 300, 2), before[-1]]


@pytest.mark.both
def test_more_rows_than_are_broadcast(runs, monkeypatch):
    monkeypatch.setattr("dbt_spark_python.incremental.earlier.MOST_BROADCAST_ROWS", 0)
    runs({"a.txt": "one\ntwo\n"}, known=False)
    found = runs({"b.txt": "two\nthree\none\n", "a.txt": "one\ntwo\n"})
    assert [verdict.partition(": ")[2] for _, _, verdict in found] == ["one", "two", "two", "three", "one"]
    assert len({verdict for _, _, verdict in found}) == 3
