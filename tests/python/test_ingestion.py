"""Files with wrong line ends, compression bombs and repeated bad lines, through dbt."""

import gzip
import json
from urllib.parse import unquote

import pytest

from conftest import DATA
from dbt_tangles.cli.tables import Tables
from dbt_tangles.why.line import explain
from odd_files import BAD_LINES, LOGS, ODD, first_lines, mistakes

pytestmark = pytest.mark.both

ONLY_MESSAGES = ("--select", "+ssb_messages", "+ssb_rejects")
EVERY_LOG = pytest.mark.parametrize("log", LOGS)


@EVERY_LOG
def test_mistakes_are_named(log, odd_files):
    """A wrong file is one line and one row: its reason names the mistake, its detail the remedy."""
    found = odd_files.rejects(log, "mistakes")
    for reason in mistakes(log):
        (row,) = found[f"{reason}.jsonl"]
        assert row["reason"] == ("malformed" if log == "event" else reason) and len(row["detail"]) > 20


@EVERY_LOG
def test_bombs_are_read_up_to_the_limit(log, odd_files):
    bad, limit = odd_files.rejects(log, "mistakes")["bomb.jsonl.gz"]
    assert limit["reason"] == "over_unpack_limit" and "unpack_limit" in limit["detail"]
    assert (limit["line"], limit["line_count"]) == (bad["line_count"] + 1, 1)
    assert 2**24 - 5000 < bad["line_count"] * (4001 + 64) <= 2**24


@EVERY_LOG
def test_many_equal_lines_share_a_row(log, odd_files):
    rows = odd_files.rejects(log, "mistakes")["repeated.jsonl"]
    assert [(row["line"], row["line_count"]) for row in rows] == [
        (1, 1),
        (2, 2 * BAD_LINES),
        (BAD_LINES + 2, 1),
        (BAD_LINES + 3, 1),
    ]
    assert len(odd_files.rows(LOGS[log][2], log, "mistakes", ["source_file"])["repeated.jsonl"]) == 2 * BAD_LINES + 3


@EVERY_LOG
@pytest.mark.parametrize("line", [2, 3, BAD_LINES, 2 * BAD_LINES + 3])
def test_why_explains_each_fault_of_a_file(log, line, odd_files):
    answer = explain(Tables(odd_files.built.warehouse, odd_files.built.schema), f"repeated.jsonl:{line}")
    (row,) = [each for each in answer["lines"] if each["log"] == log]
    (reject,) = row["rejects"]
    assert reject["line_count"] == 2 * BAD_LINES and reject["meaning"]


def test_joined_files(odd_files):
    """Byte order marks before lines are taken off; one that stands alone is a reject that names it."""
    lines = odd_files.rows("stg_ssb__lines", "ssb", "sound", ["source_file", "check_error"])["joined.jsonl"]
    assert [row["check_error"] for row in lines] == [None] * 8
    events = [row["event_id"] for row in odd_files.built.rows("timeline_events") if row["timeline_id"] == "b"]
    assert sorted(events) == ["e1", "e2", "e3", "e4"]
    (reject,) = odd_files.rejects("event", "sound")["joined.jsonl"]
    assert (reject["line"], reject["detail"]) == (5, "a byte order mark alone")


TEXT = (DATA / "ssb" / "variants_pretty.txt").read_text()
KEYS = [json.loads(part)["key"] for part in TEXT.split("\n\n") if part.strip()]
#: Files of pretty-printed objects: their bytes, and the reasons of their rejects by line.
PRETTY = {
    "crlf.txt": (TEXT.replace("\n", "\r\n").encode(), {}),
    # Additional blank lines, and objects that are malformed or lack a message.
    "blank.txt": (
        f"\n\n\n{TEXT}\n\n  \n\n{{oops\n\n{{}}".encode(),
        {len(KEYS) + 1: "malformed_json", len(KEYS) + 2: "not_a_message"},
    ),
    f"{ODD}.txt.gz": (gzip.compress(TEXT.encode()) + b"x", {len(KEYS) + 1: "trailing_garbage"}),
}
#: Files of another format, with the reason of each.
NOT_PRETTY = {
    "utf16.txt": (TEXT.replace("\n", "\r\n").encode("utf-16"), "utf16"),
    "lines.txt": (b"\n".join(first_lines("ssb", 6)), "several_messages"),
}


@pytest.fixture(scope="module")
def pretty(project, tmp_path_factory):
    """Build all of these files as a pretty-printed log."""
    folder = tmp_path_factory.mktemp("pretty")
    for name, (content, _) in (PRETTY | NOT_PRETTY).items():
        (folder / name).write_bytes(content)
    return project("pretty", ssb_log=str(folder), ssb_log_format="pretty").run(*ONLY_MESSAGES)


def files_of(rows):
    files = {}
    for row in rows:
        files.setdefault(unquote(row["source_file"]).rpartition("/")[2], []).append(row)
    return files


def test_pretty_logs(pretty):
    """All messages are read with their claimed ids: from damaged files, with any line ends, as written by a shell."""
    lines = files_of(pretty.rows("stg_ssb__lines", ["source_file", "message_id", "check_error"]))
    for name in PRETTY:
        sound = [row["message_id"] for row in lines[name] if row["check_error"] is None]
        assert sorted(sound) == sorted(KEYS), name
    messages = pretty.rows("ssb_messages")
    assert sorted(row["message_id"] for row in messages) == sorted(KEYS)
    assert all(row["is_usable"] and row["is_key_consistent"] for row in messages)
    assert {row["line_count"] for row in messages} == {len(PRETTY)}
    rejects = files_of(pretty.rows("ssb_rejects"))
    found = {name: {row["line"]: row["reason"] for row in rejects.get(name, [])} for name in PRETTY}
    assert found == {name: reasons for name, (_, reasons) in PRETTY.items()}


def test_the_wrong_format_is_named(pretty):
    rejects = files_of(pretty.rows("ssb_rejects"))
    for name, (_, reason) in NOT_PRETTY.items():
        (row,) = rejects[name]
        assert row["reason"] == reason
    assert "ssb_log_format: lines" in rejects["lines.txt"][0]["detail"]


@pytest.mark.long
def test_data_tests_hold(odd_files, pretty):
    odd_files.built.build("--exclude-resource-type", "seed")
    pretty.build(*ONLY_MESSAGES)
