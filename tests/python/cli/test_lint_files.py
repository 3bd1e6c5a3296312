"""`tangles lint`: the files that it finds, the standard input, and logs of many equal lines."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt_tangles.cli.cli import main

#: The bytes that a process of `lint` may have in memory; Python, DuckDB and numba take most of them.
MOST_MEMORY = 300 * 2**20
PROGRAM = """
import re, sys, time
from pathlib import Path
from dbt_tangles.cli.cli import main
try:
    main(sys.argv[1:])
finally:
    (peak,) = re.findall("VmHWM: *([0-9]+) kB", Path("/proc/self/status").read_text().replace("\t", " "))
    print(time.process_time(), int(peak) * 1024)
"""


def lint(*words, text: bytes | None = None):
    return CliRunner().invoke(main, ["lint", *map(str, words)], input=text)


def event(name: str, **fields) -> bytes:
    return json.dumps({"timeline": "t", "event": name, "after": [], "arrival": 1} | fields).encode() + b"\n"


@pytest.fixture
def logs(tmp_path, monkeypatch) -> Path:
    """A folder `logs` of one file, with a link to the folder `real`, which is beside it and has another file."""
    monkeypatch.chdir(tmp_path)
    for name, events in (("logs", [event("own")]), ("real", [event(f"e{n}", arrival=n) for n in range(3)])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.jsonl").write_bytes(b"".join(events))
    (tmp_path / "logs" / "link").symlink_to("../real")
    return tmp_path / "logs"


def test_folders_behind_links_are_read(logs):
    """As by a build, which finds files with the same function; the number of files is told."""
    assert lint("logs").stderr == "logs: 2 files\n4 lines: no finding\n"
    (logs / "link" / "back").symlink_to(logs)
    assert lint("logs").stderr == "logs: 2 files\n4 lines: no finding\n"


def test_pipes_and_devices_are_findings(logs):
    """They are never opened: a pipe would block the reader, and a device may have no end."""
    os.mkfifo(logs / "p.jsonl")
    (logs / "z.jsonl.gz").symlink_to("/dev/zero")
    (logs / "gone.xz").symlink_to("nowhere")
    found = json.loads(lint("logs", "--json").stdout)["findings"]
    assert [(each["file"], each["reason"]) for each in found] == [
        ("logs/gone.xz", "dangling_link"),
        ("logs/p.jsonl", "not_a_file"),
        ("logs/z.jsonl.gz", "not_a_file"),
    ]


def test_an_array_has_a_kind_and_a_remedy(tmp_path):
    (tmp_path / "log.json").write_bytes(b"[" + event("a").strip() + b"," + event("b").strip() + b"]\n")
    (line,) = lint(tmp_path / "log.json").stdout.splitlines()
    assert "a JSON array of 2 values" in line and "jq -c '.[]'" in line
    (tmp_path / "log.json").write_bytes(b"[\n" + event("a").strip() + b",\n" + event("b") + b"]\n")
    lines = lint(tmp_path / "log.json").stdout.splitlines()
    assert len(lines) == 3 and all("jq -c '.[]'" in line for line in lines)


def test_the_standard_input():
    result = lint("-", text=b"\xef\xbb\xbf" + event("a") + event("a") + b"\xef\xbb\xbf" + event("b"))
    assert result.exit_code == 1 and result.stderr == "3 lines: 1 finding\n"
    assert result.stdout.startswith("<stdin>:2: duplicate: ")
    assert "<stdin>: the file is empty" in lint("-", text=b"").stderr


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("log.jsonl", "ssb"),
        ("log.jsonl.gz", "events"),
        *(pytest.param("log.jsonl", kind, marks=pytest.mark.long) for kind in ("pzp", "autobase", "events")),
        *(pytest.param("log.jsonl.gz", kind, marks=pytest.mark.long) for kind in ("ssb", "pzp", "autobase")),
    ],
)
def test_a_million_line_ends_take_a_moment(name, kind, tmp_path):
    """The limits of time are those of the processor, so that a busy machine does not matter."""
    path = tmp_path / name
    if path.suffix == ".gz":
        with gzip.open(path, "wb", 9) as file:
            for _ in range(300):
                file.write(b"\n" * 10**6)
    else:
        path.write_bytes(b"\n" * 10**6)
    command = [sys.executable, "-c", PROGRAM, "lint", str(path), "--kind", kind, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    answer, _, used = done.stdout.strip().rpartition("\n")
    first, *faults = json.loads(answer)["findings"]
    count = json.loads(answer)["logs"][0]["lines"] - 1 if faults else 10**6
    assert (first["line"], first["line_count"]) == (1, count)
    assert [fault["reason"] for fault in faults] == (["over_unpack_limit"] if path.suffix == ".gz" else [])
    seconds, memory = map(float, used.split())
    assert seconds < 5 and memory < MOST_MEMORY


@pytest.mark.parametrize("count", [100, 101, 102, 103, 40_000])
def test_copies_of_a_line_are_counted(count, tmp_path):
    """Of a sound event, all but the first are duplicates; more than 100 equal findings are one."""
    path = tmp_path / "log.jsonl"
    path.write_bytes((event("a") * count + b"{}\n" * count) * 2)
    answer = json.loads(lint(path, "--json", "--limit", "1000").stdout)
    assert answer["logs"][0]["lines"] == 4 * count
    assert [(f["line"], f["reason"], f["line_count"]) for f in answer["findings"]] == [
        (2, "duplicate", 2 * count - 1),
        (count + 1, "malformed", 2 * count),
    ]
