"""Blocks of files, read in Python: each line is in exactly one block, with its number in the file."""

import gzip

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_spark_python.input_files import Tail
from dbt_tangles.ingest import decompress, file_blocks, unpack
from dbt_tangles.ingest.file_blocks import Block
from dbt_tangles.ingest.line_format import Reading


def read(blocks) -> list[dict]:
    text, number = pa.string(), pa.int64()
    kinds = {"path": text, "start": number, "end": number, "fault": text, "first_line": number, "source_file": text}
    rows = [{"source_file": "f", **block._asdict()} for block in blocks]
    batch = pa.RecordBatch.from_pylist(rows, pa.schema(list(kinds.items())))
    return [row for part in unpack.read_files(iter([batch]), Reading(100)) for row in part.to_pylist()]


def divide(path, size, chunk, monkeypatch):
    monkeypatch.setattr(file_blocks, "BLOCK_BYTES", size)
    monkeypatch.setattr(file_blocks, "CHUNK_BYTES", chunk)
    return file_blocks.divide(Tail(str(path), 0, path.stat().st_size, 0))


@given(
    text=st.lists(st.sampled_from([b"\n", b"ab", b"c", b"\xef\xbb\xbf", b"\r"]), max_size=12),
    size=st.integers(1, 9),
    chunk=st.integers(1, 9),
)
def test_blocks_have_the_lines_of_the_whole(text, size, chunk, tmp_path_factory):
    """For any size of blocks, each line is in exactly one block, with its number in the file."""
    path = tmp_path_factory.mktemp("blocks") / "log"
    path.write_bytes(b"".join(text))
    whole = read([Block(str(path))])
    assert [row["line"] for row in whole] == list(range(1, len(whole) + 1))
    with pytest.MonkeyPatch.context() as monkeypatch:
        blocks = divide(path, size, chunk, monkeypatch)
    assert read(blocks) == whole
    longest = max(map(len, path.read_bytes().split(b"\n")))
    assert all(block.end - block.start <= size + chunk + longest for block in blocks)


def test_a_line_that_grows_is_read_to_its_end(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"1\n23\n4")
    assert [row["raw"] for row in read([Block(str(path), 2, 3, None, 2)])] == [b"23"]


def test_faults_and_packed_files(tmp_path):
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b"1\n2\n") + b"x")
    rows = read([Block(str(path)), Block("/nowhere", fault="dangling_link")])
    faults = [(None, "trailing_garbage"), (None, "dangling_link")]
    assert [(row["raw"], row["fault"]) for row in rows] == [(b"1", None), (b"2", None), *faults]


def test_a_line_too_long_near_the_end(tmp_path):
    path = tmp_path / "log"
    length = 2 * decompress.CHUNK_BYTES + 5
    path.write_bytes(b"x" * length + b"\n12\n")
    rows = read([Block(str(path), 0, path.stat().st_size)])
    assert [(row["raw"], row["raw_length"]) for row in rows] == [(b"x" * 100, length), (b"12", 2)]


def test_a_file_that_is_gone():
    with pytest.raises(RuntimeError, match=r"while reading file /nowhere/log: No such file"):
        read([Block("/nowhere/log", 0, 5)])
