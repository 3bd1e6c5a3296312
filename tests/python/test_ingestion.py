"""Files that are cut into lines at the wrong places, pack far too much or repeat one bad line, through dbt."""

import gzip
import json
import re
from collections import Counter, defaultdict
from itertools import islice

import pytest

from conftest import DATA
from dbt_tangles.ask.tables import Tables
from dbt_tangles.ask.why_line import explain

pytestmark = pytest.mark.both_at_length

NO_SEEDS = ("--exclude-resource-type", "seed")
ONLY_MESSAGES = ("--select", "+ssb_messages", "+ssb_rejects", "--indirect-selection", "cautious", *NO_SEEDS)
#: By log: lines that are usable, the table of rejects, the table of lines.
LOGS = {
    "ssb": ("ssb/small.jsonl", "ssb_rejects", "stg_ssb__lines"),
    "pzp": ("sets/pzp_synth.jsonl.gz", "pzp_rejects", "stg_pzp__lines"),
    "autobase": ("autobase/random.jsonl.gz", "autobase_rejects", "stg_autobase__lines"),
    "event": ("timelines/small.jsonl.gz", "timeline_rejects", "stg_events__lines"),
}
EVERY_LOG = pytest.mark.parametrize("log", LOGS)
BAD_LINES = 150
BAD_LINE = b'{"live": "marker"}'


def good_lines(log: str, count: int = 6) -> list[bytes]:
    """Read some JSON objects of a log."""
    path = DATA / LOGS[log][0]
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as lines:
        objects = (line.strip() for line in lines if line.startswith(b"{") and line.rstrip().endswith(b"}"))
        return list(islice(objects, count))


def mistakes(log: str) -> dict[str, bytes]:
    """Write the messages of a log in all wrong ways, by the reason that each should have."""
    lines = good_lines(log)
    length = len(lines[0]).to_bytes(4, "big")
    return {
        "several_messages": lines[0] + lines[1] + b"\n",
        "cr_line_ends": b"\r".join(lines) + b"\r",
        "json_array": b"[" + b",".join(lines) + b"]\n",
        "utf16": b"\n".join(lines[:1]).decode().encode("utf-16"),
        "binary_log": length + lines[0] + length + bytes(3) + b"\x99" + length + lines[0][:20],
        "malformed_json": lines[0][:-1] + b"\n",
    }


@pytest.fixture(scope="module")
def built(project, tmp_path_factory):
    """Four logs: a sound file, one for each mistake, a bomb, and a file that has one bad line many times."""
    folders = {}
    for log in LOGS:
        folders[log] = folder = tmp_path_factory.mktemp(log)
        (folder / "sound.jsonl").write_bytes(b"\n".join(good_lines(log)) + b"\n")
        for reason, text in mistakes(log).items():
            (folder / f"{reason}.jsonl").write_bytes(text)
        lines = [b"x", *[BAD_LINE] * BAD_LINES, b"y", b"y", *[BAD_LINE] * BAD_LINES]
        (folder / "repeated.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        (folder / "bomb.jsonl.gz").write_bytes(gzip.compress((b"z" * 4000 + b"\n") * 8000))
    return project("ingestion", **{f"{log}_log": str(folder) for log, folder in folders.items()}).build(*NO_SEEDS)


def rejects(built, log: str) -> dict[str, list[dict]]:
    """The rejects of a log by the name of their file."""
    files = defaultdict(list)
    for row in built.rows(LOGS[log][1]):
        if row["source_file"] is not None:
            files[row["source_file"].rpartition("/")[2]].append(row)
    return files


@EVERY_LOG
def test_mistakes_are_named(log, built):
    """One row for the one line that the file is, with the mistake as its reason and the remedy in words."""
    found = rejects(built, log)
    for reason in mistakes(log):
        (row,) = found[f"{reason}.jsonl"]
        assert row["reason"] == ("malformed" if log == "event" else reason)
        words = {
            "several_messages": "more than one JSON object: the second begins at character ",
            "cr_line_ends": "carriage return",
            "json_array": "a JSON array of 6 values",
            "utf16": "UTF-16",
            "binary_log": "log.offset",
            "malformed_json": r"not JSON at column \d+: expecting ',' delimiter",
        }
        assert re.search(words[reason], row["detail"]), row


@EVERY_LOG
def test_bombs_are_read_up_to_the_limit(log, built):
    """And a row says so; the lines that are read are one row."""
    bad, limit = sorted(rejects(built, log)["bomb.jsonl.gz"], key=lambda row: row["line"])
    assert limit["reason"] == "over_unpack_limit" and "unpack_limit" in limit["detail"]
    assert (limit["line"], limit["line_count"]) == (bad["line_count"] + 1, 1)
    assert 2**24 - 5000 < bad["line_count"] * (4001 + 64) <= 2**24


@EVERY_LOG
def test_many_lines_that_are_alike_are_one_row(log, built):
    """With their number; few are a row each. Every line is counted, as the data tests of the build say too."""
    rows = sorted(rejects(built, log)["repeated.jsonl"], key=lambda row: row["line"])
    assert [(row["line"], row["line_count"]) for row in rows] == [
        (1, 1),
        (2, 2 * BAD_LINES),
        (BAD_LINES + 2, 1),
        (BAD_LINES + 3, 1),
    ]
    files = Counter(row["source_file"] for row in built.rows(LOGS[log][2], ["source_file"]))
    assert [count for name, count in files.items() if "repeated" in name] == [2 * BAD_LINES + 3]


@EVERY_LOG
@pytest.mark.parametrize("line", [2, 3, BAD_LINES, 2 * BAD_LINES + 3])
def test_each_of_them_is_explained(log, line, built):
    """`tangles why --line` finds the row that stands for a line."""
    answer = explain(Tables(built.warehouse, built.schema), f"repeated.jsonl:{line}")
    (row,) = [each for each in answer["lines"] if each["log"] == log]
    (reject,) = row["rejects"]
    assert reject["line_count"] == 2 * BAD_LINES and reject["meaning"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_pretty_logs_with_any_line_ends(end, project, tmp_path):
    """A shell's redirection may change them; all messages are read, with the ids they claim."""
    text = (DATA / "ssb" / "variants_pretty.txt").read_text()
    keys = [json.loads(part)["key"] for part in text.split("\n\n") if part.strip()]
    (tmp_path / "log.txt").write_text(text.replace("\n", end), newline="")
    name = f"pretty_{'_'.join(map(str, end.encode()))}"
    built = project(name, ssb_log=str(tmp_path / "log.txt"), ssb_log_format="pretty").build(*ONLY_MESSAGES)
    assert sorted(row["message_id"] for row in built.rows("ssb_messages") if row["is_usable"]) == sorted(keys)
    assert built.rows("ssb_rejects") == []


def test_the_wrong_format_is_named(project, tmp_path):
    """A pretty log in UTF-16, and a log of lines that is read as a pretty one."""
    text = (DATA / "ssb" / "variants_pretty.txt").read_text()
    (tmp_path / "utf16.txt").write_bytes(text.replace("\n", "\r\n").encode("utf-16"))
    (tmp_path / "lines.txt").write_bytes(b"\n".join(good_lines("ssb")))
    built = project("wrong_format", ssb_log=str(tmp_path), ssb_log_format="pretty").build(*ONLY_MESSAGES)
    found = {row["source_file"].rpartition("/")[2]: row for row in built.rows("ssb_rejects")}
    assert {name: row["reason"] for name, row in found.items()} == {
        "utf16.txt": "utf16",
        "lines.txt": "several_messages",
    }
    assert "ssb_log_format: lines" in found["lines.txt"]["detail"]


def test_whole_numbers_by_value(project, tmp_path):
    """Numbers that a data frame wrote as 1.0, as in pandas-dev/pandas#57224: order and nodes are those of 1."""
    events = [
        {"timeline": "t", "event": "a", "after": [], "arrival": 1.0},
        {"timeline": "t", "event": "b", "after": ["a"], "arrival": 2e0},
        {"timeline": "t", "event": "c", "after": ["b"], "arrival": 3},
        {"timeline": "t", "event": "d", "after": ["b"], "arrival": 3.5},
    ]
    writer = "ab" * 32
    nodes = [
        {"base": "f", "indexers": [writer], "start": {writer: 0.0}},
        {"base": "f", "writer": writer, "length": 1.0, "heads": [], "batch": 1.0, "value": "x"},
        {"base": "f", "writer": writer, "length": 2, "heads": [[writer, 1.0]], "batch": 1, "value": "y"},
        {"base": "f", "writer": writer, "length": 3.5, "heads": [], "batch": 1, "value": "z"},
    ]
    for name, lines in (("events", events), ("nodes", nodes)):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    built = project("by_value", event_log=str(tmp_path / "events"), autobase_log=str(tmp_path / "nodes"))
    built.build(
        *("--select", "+timeline_events", "+timeline_rejects", "+autobase_nodes", "+autobase_rejects"),
        *("--indirect-selection", "cautious", *NO_SEEDS),
    )
    order = sorted(built.rows("timeline_events"), key=lambda row: row["position"])
    assert [(row["event_id"], row["rank"], row["arrival"]) for row in order] == [("a", 0, 1), ("b", 1, 2), ("c", 2, 3)]
    assert [row["line"] for row in built.rows("timeline_rejects")] == [4]
    assert sorted(row["node_id"] for row in built.rows("autobase_nodes")) == [f"{writer}:1", f"{writer}:2"]
    assert [(row["line"], row["reason"]) for row in built.rows("autobase_rejects")] == [(4, "bad_length")]
