"""Logs with damaged files, wrong line ends and other formats, all in one build."""

import gzip
import lzma
import os
import zlib
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import zstandard

from conftest import DATA
from log_files import read_lines, write

#: By log: its usable lines, the table of rejects, the table of lines, and the latter's column of reasons.
LOGS = {
    "ssb": ("ssb/small.jsonl", "ssb_rejects", "stg_ssb__lines", "check_error"),
    "pzp": ("sets/pzp_synth.jsonl.gz", "pzp_rejects", "stg_pzp__lines", "reject_reason"),
    "autobase": ("autobase/random.jsonl.gz", "autobase_rejects", "stg_autobase__lines", "reject_reason"),
    "event": ("timelines/small.jsonl.gz", "timeline_rejects", "stg_events__lines", "reject_reason"),
}
ODD = "[x] {1,2} a\\b c:d é%20#?*"
#: Faults of files, one of each kind; `ingest/test_unpack.py` has all damages of each compression.
FAULTS = {
    "early.jsonl.gz": "truncated_file",
    "after.gz": "trailing_garbage",
    "checksum.gz": "corrupt_file",
    "text.gz": "not_compressed",
    "log.xz": "unsupported_compression",
    "log.LZ4": "unsupported_compression",
    "below/log.zip": "unsupported_compression",
    "gone.jsonl": "dangling_link",
    "below/gone.gz": "dangling_link",
    "pipe.jsonl": "not_a_file",
    "below/pipe.gz": "not_a_file",
    "device.jsonl": "not_a_file",
}
BAD_LINES = 150
BAD_LINE = b'{"live": "marker"}'


class OddFiles(NamedTuple):
    """A build of four logs, each a folder of folders: `damaged`, `mistakes` and `sound`."""

    built: object
    folders: dict[str, Path]
    #: By log and file, the number of readable lines in each damaged file.
    expected: dict[str, dict[str, int]]

    def rows(self, table: str, log: str, folder: str, columns: list[str] | None = None) -> dict[str, list[dict]]:
        """Group a table's rows from a folder of a log by file name."""
        files: dict[str, list[dict]] = {}
        for row in self.built.rows(table, columns):
            _, is_there, name = unquote(row["source_file"] or "").partition(f"{self.folders[log]}/{folder}/")
            if is_there:
                files.setdefault(name, []).append(row)
        return files

    def rejects(self, log: str, folder: str) -> dict[str, list[dict]]:
        """Return the rejects from a folder of a log, by file and in the order of lines."""
        files = self.rows(LOGS[log][1], log, folder)
        return {name: sorted(rows, key=lambda row: row["line"]) for name, rows in files.items()}


def first_lines(log: str, count: int) -> list[bytes]:
    """Read the first lines of a log that are JSON objects."""
    lines = map(bytes.strip, read_lines(LOGS[log][0]))
    return [line for line in lines if line.startswith(b"{") and line.endswith(b"}")][:count]


def write_damages(folder, lines: list[bytes]) -> dict[str, int]:
    """Write sound and damaged files; return the number of readable lines in each."""
    text = b"\n".join(lines) + b"\n"
    packed = gzip.compress(text)
    half = packed[: len(packed) // 2]
    had = len(zlib.decompressobj(31).decompress(half).split(b"\n"))
    count = len(lines)
    files = {
        "plain.jsonl": (text, count),
        "whole.jsonl.gz": (packed, count),
        "UPPER.GZ": (packed, count),
        "two.gz": (packed + gzip.compress(lines[0]), count + 1),
        "empty.gz": (b"", 0),
        f"{ODD}.jsonl": (text, count),
        f"below/{ODD}.gz": (packed, count),
        "early.jsonl.gz": (half, had),
        "after.gz": (packed + b"garbage after it", count),
        "checksum.gz": (packed[:-8] + bytes(4) + packed[-4:], count),
        "text.gz": (text, 0),
        "padded.zst": (zstandard.compress(text) + b"\0" * 512, count),
        "log.xz": (lzma.compress(text), 0),
        "log.LZ4": (text, 0),
        "below/log.zip": (text, 0),
        "_hidden.gz": (half, 0),
    }
    (folder / "below" / "nothing").mkdir(parents=True)
    for name, (content, _) in files.items():
        (folder / name).write_bytes(content)
    (folder / "gone.jsonl").symlink_to("nowhere")
    (folder / "below" / "gone.gz").symlink_to(folder / "nowhere")
    (folder / "below" / "_gone").symlink_to("nowhere")
    (folder / "linked.jsonl").symlink_to("plain.jsonl")
    (folder / "device.jsonl").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.jsonl")
    os.mkfifo(folder / "below" / "pipe.gz")
    write_linked_folders(folder)
    return {name: had for name, (_, had) in files.items() if had} | {"linked.jsonl": count, "linked folder/a.jsonl": 2}


def write_linked_folders(folder: Path) -> None:
    """Write a link to a folder beside the log, and two links that lead back."""
    beside = folder.parent.parent / f"beside {folder.parent.name}"
    beside.mkdir()
    write(beside / "a.jsonl", [b"1", b"2"])
    (folder / "linked folder").symlink_to(beside)
    (folder / "below" / "up").symlink_to(folder)
    (beside / "itself").symlink_to(".")


def mistakes(log: str) -> dict[str, bytes]:
    """Write the messages of a log in all wrong ways, by the reason that each should have."""
    lines = first_lines(log, 6)
    length = len(lines[0]).to_bytes(4, "big")
    return {
        "several_messages": lines[0] + lines[1] + b"\n",
        "cr_line_ends": b"\r".join(lines) + b"\r",
        "json_array": b"[" + b",".join(lines) + b"]\n",
        "utf16": b"\n".join(lines[:1]).decode().encode("utf-16"),
        "binary_log": length + lines[0] + length + bytes(3) + b"\x99" + length + lines[0][:20],
        "malformed_json": lines[0][:-1] + b"\n",
    }


def write_mistakes(folder: Path, log: str) -> None:
    """Write a sound file, one for each mistake, a compression bomb, and a file that repeats one bad line."""
    folder.mkdir()
    write(folder / "sound.jsonl", first_lines(log, 6))
    for reason, text in mistakes(log).items():
        (folder / f"{reason}.jsonl").write_bytes(text)
    write(folder / "repeated.jsonl", [b"x", *[BAD_LINE] * BAD_LINES, b"y", b"y", *[BAD_LINE] * BAD_LINES])
    (folder / "bomb.jsonl.gz").write_bytes(gzip.compress((b"z" * 4000 + b"\n") * 8000))


def build(project, folder: Path) -> OddFiles:
    folders = {log: folder / f"{log} damaged [logs]" for log in LOGS}
    expected = {}
    for log, place in folders.items():
        (place / "sound").mkdir(parents=True)
        expected[log] = write_damages(place / "damaged", first_lines(log, 40))
        write_mistakes(place / "mistakes", log)
    for place, log in (("ssb/variants", "ssb"), ("ssb/joined", "ssb"), ("timelines/joined", "event")):
        source = (DATA / place).with_suffix(".jsonl")
        (folders[log] / "sound" / source.name).write_bytes(source.read_bytes())
    built = project("odd_files", **{f"{log}_log": str(place) for log, place in folders.items()})
    return OddFiles(built.run(), folders, expected)
