"""Lines of damaged files: everything readable, and a row with the reason why the rest is missing."""

import bz2
import gzip
import random
import re
import zlib

import pyarrow as pa
import pytest
import zstandard

from dbt_tangles.ingest import decompress, line_format
from dbt_tangles.ingest.decompress import SUFFIXES
from dbt_tangles.ingest.line_format import FREE_BYTES, LINE_COST, LINE_SCHEMA, Reading
from dbt_tangles.ingest.unpack import read_files
from dbt_tangles.reasons import FileFault

MAX_BYTES = 5000
LINES = [b"%d %s" % (place, random.Random(place).randbytes(place % 90).hex().encode()) for place in range(5000)]
TEXT = b"\n".join(LINES) + b"\n"
GZ, BZ2, DEFLATE = gzip.compress(TEXT, mtime=0), bz2.compress(TEXT), zlib.compress(TEXT)
ZST = zstandard.ZstdCompressor(write_checksum=True).compress(TEXT)
WHOLE = {"gz": GZ, "bz2": BZ2, "deflate": DEFLATE, "zst": ZST, "zstd": ZST}
EVERY_KIND = pytest.mark.parametrize("suffix", WHOLE)


def read(name, content, separator="\n", max_bytes=MAX_BYTES, **options):
    """Read one file as Spark passes it: its rows, lines first."""
    batch = pa.record_batch({"source_file": ["file:/a"], "path": [f"s3a://b/{name}"], "content": [content]})
    batches = list(read_files(iter([batch]), Reading(max_bytes, separator, **options)))
    rows = pa.Table.from_batches(batches, LINE_SCHEMA).to_pylist()
    assert [(row["source_file"], row["line"]) for row in rows] == [("file:/a", n) for n in range(1, len(rows) + 1)]
    assert not any(row["fault"] for row in rows[:-1])
    return rows


def lines_and_fault(name, content, **options):
    """Read one file: its lines and its fault."""
    rows = read(name, content, **options)
    fault = rows.pop()["fault"] if rows and rows[-1]["fault"] else None
    assert all(row["raw_length"] == len(row["raw"]) for row in rows)
    return [row["raw"] for row in rows], fault


def test_every_suffix_is_tried():
    assert set(WHOLE) == set(SUFFIXES)


@EVERY_KIND
def test_streams(suffix):
    """Streams in a row, zeros after the data (as gzip and bzip2 allow them, longer than one read), and other bytes."""
    whole, zeros = WHOLE[suffix], b"\0" * 20_000
    garbage = [zeros + b"y", b"y", b"abcd", b"\x1e\x8b", b"{}\n" * 9999, b"\0\0y", b"\xff" * 9]
    other = [TEXT, b"{", b"\0" * 100, b"PK\x03\x04", b"\x1f\x8b\x07" + GZ[3:]]
    for content, read in [
        *((count * whole, (LINES * count, None)) for count in (0, 1, 3)),
        (whole + zeros, (LINES, None)),
        (whole + zeros + whole, (LINES * 2, None)),
        *((whole + each, (LINES, FileFault.TRAILING_GARBAGE)) for each in garbage),
        *((each, ([], FileFault.NOT_COMPRESSED)) for each in other),
    ]:
        assert lines_and_fault(f"log.{suffix}", content) == read, content[-20:]
    assert lines_and_fault(f"LOG.JSONL.{suffix.upper()}", whole) == (LINES, None)


def are_first(lines):
    """Whether `lines` are the first of `LINES`, the last one perhaps cut."""
    return lines[:-1] == LINES[: len(lines) - 1] and LINES[len(lines) - 1].startswith(lines[-1]) if lines else True


@EVERY_KIND
def test_files_that_end_early(suffix):
    """A file cut at any byte has a fault, and a longer prefix gives at least as many lines."""
    whole, least = WHOLE[suffix], 0
    for size in sorted({*range(1, 12), *range(100, len(whole), 9973), *range(len(whole) - 12, len(whole))}):
        lines, fault = lines_and_fault(f"log.{suffix}", whole[:size])
        assert fault == FileFault.TRUNCATED_FILE, size
        assert are_first(lines)
        assert len(lines) >= least
        least = len(lines)
    assert least > (0 if suffix == "bz2" else 4000)


@pytest.mark.parametrize("suffix", ["gz", "deflate", "zst"])
def test_data_before_an_early_end_are_read(suffix):
    assert lines_and_fault(f"log.{suffix}", WHOLE[suffix][:-1]) == (LINES, FileFault.TRUNCATED_FILE)
    more = WHOLE[suffix] * 2 + WHOLE[suffix][:1]
    assert lines_and_fault(f"log.{suffix}", more) == (LINES * 2, FileFault.TRUNCATED_FILE)


def test_wrong_checksums():
    assert lines_and_fault("a.gz", GZ[:-8] + b"\1\2\3\4" + GZ[-4:]) == (LINES, FileFault.CORRUPT_FILE)
    assert lines_and_fault("a.gz", GZ[:-4] + b"\1\2\3\4") == (LINES, FileFault.CORRUPT_FILE)
    assert lines_and_fault("a.gz", GZ + GZ[:-4] + b"\1\2\3\4") == (LINES * 2, FileFault.CORRUPT_FILE)
    assert lines_and_fault("a.deflate", DEFLATE[:-4] + b"\1\2\3\4") == (LINES, FileFault.CORRUPT_FILE)
    assert lines_and_fault("a.zst", ZST[:-4] + b"\1\2\3\4") == (LINES, FileFault.CORRUPT_FILE)
    assert lines_and_fault("a.zst", ZST + ZST[:-4] + b"\1\2\3\4") == (LINES * 2, FileFault.CORRUPT_FILE)


def test_frames_that_zstandard_skips():
    skipped = b"\x5f\x2a\x4d\x18" + (9_000).to_bytes(4, "little") + b"x" * 9_000
    assert lines_and_fault("a.zst", skipped + ZST + skipped + ZST) == (LINES * 2, None)
    assert lines_and_fault("a.zst", ZST + skipped[:-1]) == (LINES, FileFault.TRUNCATED_FILE)


@pytest.mark.parametrize(("window_log", "is_read"), [(27, True), (28, False), (31, False)])
def test_long_windows(window_log, is_read):
    """A window of more than 128 MiB is refused, as by the command zstd; the detail names it and the remedy."""
    options = zstandard.ZstdCompressionParameters(window_log=window_log, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=options).compressobj()  # the window of a text of unknown size
    packed = packer.compress(TEXT) + packer.flush()
    if is_read:
        assert lines_and_fault("a.zst", packed) == (LINES, None)
        return
    (*lines, fault) = read("a.zst", ZST + packed)
    assert [line["raw"] for line in lines] == LINES
    assert fault["fault"] == FileFault.UNSUPPORTED_COMPRESSION
    assert f"{2**window_log:,} bytes" in fault["fault_detail"]
    assert f"zstd -d --long={window_log}" in fault["fault_detail"]


def test_zstandard_with_a_dictionary():
    words = zstandard.train_dictionary(2**12, [line * 9 for line in LINES])
    packed = zstandard.ZstdCompressor(dict_data=words).compress(TEXT)
    ((row),) = read("a.zst", packed)
    assert (row["fault"], "dictionary" in row["fault_detail"]) == (FileFault.UNSUPPORTED_COMPRESSION, True)


def test_every_block_of_zstandard_before_a_fault_is_kept():
    """As the command `zstd -dc` keeps it: the sound blocks of a cut or damaged file."""
    lines = [b'{"timeline":"t","event":"e%d","after":[],"arrival":%d}' % (n, n) for n in range(60_000)]
    whole = zstandard.ZstdCompressor(write_checksum=True).compress(b"\n".join(lines) + b"\n")
    cut = len(whole) * 2 // 3
    decoder, text = zstandard.ZstdDecompressor().decompressobj(), b""
    for at in range(cut):
        text += decoder.decompress(whole[at : at + 1])
    assert text.count(b"\n") > 30_000
    assert lines_and_fault("a.zst", whole[:cut]) == (text.split(b"\n"), FileFault.TRUNCATED_FILE)
    assert lines_and_fault("a.zst", whole[:cut] + b"\xff" * 2**18) == (text.split(b"\n"), FileFault.CORRUPT_FILE)


def test_zstandard_unpacks_in_small_pieces(monkeypatch):
    """Four bytes of Zstandard unpack to 128 KiB; the text of a piece is given in parts."""
    block = (2**17 << 3 | 1 << 1).to_bytes(3, "little") + b"z"
    packed = b"\x28\xb5\x2f\xfd\x00\x38" + block * 4_000 + b"\x01\x00\x00"
    chunks = decompress.read_chunks("a.zst", pa.BufferReader(packed), Reading(MAX_BYTES, unpack_ratio=10**6))
    assert max(map(len, chunks)) <= 2**23


@pytest.mark.parametrize("suffix", ["gz", "bz2", "deflate", "zst"])
def test_damage_inside(suffix):
    whole, rng = WHOLE[suffix], random.Random(suffix)
    for _ in range(40):
        at = rng.randrange(len(whole) // 2, len(whole))
        content = whole[:at] + rng.randbytes(16) + whole[at + 16 :]
        lines, fault = lines_and_fault(f"log.{suffix}", content, max_bytes=2**30)
        assert fault in (FileFault.CORRUPT_FILE, FileFault.TRUNCATED_FILE, FileFault.TRAILING_GARBAGE)
        assert lines[:1000] == LINES[:1000] or suffix == "bz2"


def test_lines_before_damage_are_read():
    """A decoder that fails at the last byte of a piece has unpacked the bytes before it."""
    stored = zlib.compressobj(0, zlib.DEFLATED, -15)
    stored = stored.compress(TEXT) + stored.flush(zlib.Z_FULL_FLUSH)  # uncompressed, so that its end is known
    lines, fault = lines_and_fault("a.gz", GZ[:10] + stored + b"\xff" * 9)
    assert (lines, fault) == (LINES, FileFault.CORRUPT_FILE)


@pytest.mark.parametrize("chunk", [3, 7, 100, 2**20])
@pytest.mark.parametrize("separator", ["\n", "\n\n"])
def test_lines_do_not_depend_on_how_they_are_read(chunk, separator, monkeypatch):
    monkeypatch.setattr(decompress, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(decompress, "PIECE_BYTES", min(chunk, 50))
    text = b"\xef\xbb\xbf\n\n\n a \n\n\n\nb\r\n\r\nc\r\n\rd\r\re\r\n\xef\xbb\xbf\n\n\n"
    text += b"x" * 99 + b"\n\n" + b"y" * 103 + b"\n\n\n\nz"
    lines = text[3:] if separator == "\n" else re.sub(rb"\r\n?", b"\n", text[3:])
    expected = [line for line in lines.split(separator.encode()) if separator == "\n" or line.strip()]
    rows = read("a.gz", gzip.compress(text), separator, 100)
    assert [row["raw_length"] for row in rows] == list(map(len, expected))
    assert [row["raw"] for row in rows] == [line[:100] for line in expected]


def test_bombs():
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    content = b"".join([packer.compress(b"a\n"), *(packer.compress(b"x" * 2**20) for _ in range(256)), packer.flush()])
    before = pa.total_allocated_bytes()
    short, long = read("bomb.gz", content, unpack_ratio=2000)
    assert (short["raw"], long["raw"], long["raw_length"]) == (b"a", b"x" * MAX_BYTES, 2**28)
    assert pa.total_allocated_bytes() - before < 2**24


def bomb(unit: bytes, count: int, suffix: str) -> bytes:
    block = unit * (2**20 // len(unit))
    if suffix == "zst":
        return pa.compress(block * count, "zstd", asbytes=True)
    window = {"gz": 31, "deflate": 15}.get(suffix)
    packer = zlib.compressobj(9, zlib.DEFLATED, window) if window else bz2.BZ2Compressor(9)
    return b"".join([*(packer.compress(block) for _ in range(count)), packer.flush()])


@pytest.mark.parametrize("suffix", ["gz", "bz2", "deflate", "zst"])
@pytest.mark.parametrize("unit", [b"\n", b"x\n", b"\0", b"x" * 1000 + b"\n"])
def test_unpacked_size_is_bounded(suffix, unit):
    # Twice the free amount, in bytes and in lines.
    cost_of_byte = 1 if unit == b"\0" else 1 + LINE_COST / len(unit)
    content = bomb(unit, 1 + int(2 * FREE_BYTES / cost_of_byte) // 2**20, suffix)
    *rows, last = read(f"bomb.{suffix}", content, max_bytes=100)
    assert last["fault"] == FileFault.OVER_UNPACK_LIMIT
    assert last["fault_detail"].startswith(f"{len(content):,} bytes unpack to more than ")
    most = max(FREE_BYTES, 200 * len(content))
    length = sum(row["raw_length"] + 1 for row in rows)
    assert most - 2000 <= length + LINE_COST * len(rows) <= most + len(unit) + LINE_COST
    # Lines before the limit are complete.
    assert {row["raw_length"] for row in rows} == ({length - 1} if unit == b"\0" else {len(unit) - 1})


@EVERY_KIND
def test_files_up_to_the_limit_are_read_whole(suffix, monkeypatch):
    monkeypatch.setattr(line_format, "FREE_BYTES", 0)
    cost = len(TEXT) + LINE_COST * len(LINES)
    least = -(-cost // len(WHOLE[suffix]))
    assert lines_and_fault(f"log.{suffix}", WHOLE[suffix], unpack_ratio=least) == (LINES, None)
    lines, fault = lines_and_fault(f"log.{suffix}", WHOLE[suffix], unpack_ratio=least - 1)
    assert fault == FileFault.OVER_UNPACK_LIMIT
    assert lines == LINES[: len(lines)] and len(lines) > len(LINES) // 2


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r", b"\r\r\n"])
def test_pretty_objects_with_any_line_ends(end, monkeypatch):
    objects = [b'{\n  "a": %d\n}' % number for number in range(50)]
    text = b"\n\n".join(objects) + b"\n\n"
    for chunk in (1, 2, 3, 7, 2**20):
        monkeypatch.setattr(decompress, "CHUNK_BYTES", chunk)
        rows = read("log.txt", text.replace(b"\n", end), "\n\n")
        assert [row["raw"].strip() for row in rows] == objects


def test_local_files(tmp_path):
    names = ["a:b.jsonl", "[x] {1,2} é%20#?.GZ", "c\\d.bz2"]
    for name, content in zip(names, (TEXT, GZ, BZ2), strict=True):
        (tmp_path / name).write_bytes(content)
    paths = [f"file:{tmp_path / name}" for name in names]
    batch = pa.record_batch({"source_file": names, "path": paths})
    rows = pa.Table.from_batches(read_files(iter([batch]), Reading(MAX_BYTES)), LINE_SCHEMA).to_pylist()
    assert [(row["source_file"], row["line"], row["raw"]) for row in rows] == [
        (name, number, line) for name in names for number, line in enumerate(LINES, 1)
    ]
    gone = pa.record_batch({"source_file": ["a"], "path": [f"file:{tmp_path}/gone.gz"]})
    with pytest.raises(RuntimeError, match=r"while reading file file:.*/gone\.gz: No such file"):
        list(read_files(iter([gone]), Reading(MAX_BYTES)))
