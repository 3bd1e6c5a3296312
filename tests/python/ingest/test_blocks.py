"""Blocks of files, read in Python: each line is in exactly one block, with its number in the file."""

import gzip
import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.ingest import decompress, unpack
from dbt_tangles.ingest.line_format import Reading


def read(blocks, max_bytes=100) -> list[dict]:
    """Read some blocks of files."""
    batches = unpack.read_blocks(iter([batch_of(blocks)]), reading=Reading(max_bytes))
    return [row for batch in batches for row in batch.to_pylist()]


def batch_of(blocks) -> pa.RecordBatch:
    """Put blocks of files into a batch."""
    text, number = pa.string(), pa.int64()
    columns = {"path": text, "start": number, "end": number, "fault": text, "first_line": number}
    fields = {"number": pa.int32(), "source_file": text, **columns}
    rows = [{"number": place, "source_file": "f", "first_line": 1, **block} for place, block in enumerate(blocks)]
    return pa.RecordBatch.from_pylist(rows, pa.schema(list(fields.items())))


@given(
    text=st.lists(st.sampled_from([b"\n", b"ab", b"c", b"\xef\xbb\xbf", b"\r"]), max_size=12), size=st.integers(1, 9)
)
def test_blocks_have_the_lines_of_the_whole(text, size, tmp_path_factory):
    """For any block size, each line is in exactly one block; it gets its number from the counts of earlier blocks."""
    text = b"".join(text)
    path = tmp_path_factory.mktemp("blocks") / "log"
    path.write_bytes(text)
    whole = read([{"path": str(path), "start": 0}])
    assert [row["line"] for row in whole] == list(range(1, len(whole) + 1))
    blocks = [
        {"path": str(path), "start": start, "end": min(start + size, len(text))} for start in range(0, len(text), size)
    ]
    (counted,) = unpack.count_lines(iter([batch_of(blocks)]))
    parts, first_line = [], 1
    for block, row in zip(blocks, counted.to_pylist(), strict=True):
        parts += read([{**block, "first_line": first_line}])
        first_line += row["lines"]
    assert parts == whole


def test_faults_and_packed_files(tmp_path):
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b"1\n2\n") + b"x")
    rows = read([{"path": str(path), "start": 0}, {"path": "/nowhere", "start": 0, "fault": "dangling_link"}])
    assert [(row["raw"], row["fault"]) for row in rows] == [
        (b"1", None),
        (b"2", None),
        (None, "trailing_garbage"),
        (None, "dangling_link"),
    ]


def test_a_line_too_long_near_the_end(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"x" * (2 * decompress.CHUNK_BYTES + 5) + b"\n12\n")
    rows = read([{"path": str(path), "start": 0, "end": path.stat().st_size}])
    assert [(row["raw"], row["raw_length"]) for row in rows] == [
        (b"x" * 100, 2 * decompress.CHUNK_BYTES + 5),
        (b"12", 2),
    ]


class CountingFile(io.FileIO):
    """A file that counts the bytes read from it."""

    count = 0

    def read(self, size=-1):
        """Read like a file."""
        piece = super().read(size)
        CountingFile.count += len(piece)
        return piece


@pytest.mark.parametrize("line", [2**14, 2**10, 2**6, 100])
def test_each_byte_is_read_twice_at_most(line, tmp_path, monkeypatch):
    """Also in a file without line ends: a block searches the beginning of a line only within itself."""
    path, size, block = tmp_path / "log", 2**14, 2**6
    path.write_bytes((b"x" * (line - 1) + b"\n") * (size // line))
    monkeypatch.setattr(decompress, "CHUNK_BYTES", 16)
    monkeypatch.setattr(unpack, "open", lambda path, *_, **__: CountingFile(path), raising=False)
    CountingFile.count = 0
    rows = read(
        [{"path": str(path), "start": start, "end": start + block} for start in range(0, size, block)], max_bytes=10
    )
    assert [row["raw_length"] for row in rows][: size // line] == [line - 1] * (size // line)
    assert size <= CountingFile.count <= 2 * size + 16 * (size // block)


def test_a_file_that_is_gone(tmp_path):
    with pytest.raises(RuntimeError, match=r"while reading file /nowhere/log: No such file"):
        read([{"path": "/nowhere/log", "start": 0, "end": 5}])
