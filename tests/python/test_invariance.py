"""Tables depend on the lines alone: neither on line order, nor on files, nor on Spark's partitions."""

import json
from base64 import b64encode
from collections import Counter
from pathlib import Path

import pytest

import log_files
from conftest import DATA, DbtProject
from fixtures.ssb.author import Author, box, to_line
from group_kit import root_init
from log_files import contents, scatter, selection_of
from small_log import VARS

LINES = Path(VARS["ssb_log"]).read_bytes().rstrip(b"\n").split(b"\n")
CLAIM = {"root": None, "previous": None}
TABLES = (
    *("stg_ssb__lines", "ssb_messages", "ssb_rejects", "feeds", "feed_messages"),
    *("tangle_messages", "tangles", "tangle_edges", "tangle_ancestors", "tangle_clocks"),
    *("int_feed_links", "int_feed_chain", "int_tangle_candidates", "int_tangle_levels"),
)


def run(project, schema: str, log: Path, **variables) -> DbtProject:
    """Build a log, with clocks for some of the tangles."""
    built = project(schema, **{**VARS, "ssb_log": str(log)}, **variables)
    return built.run("--select", *selection_of(*TABLES))


def write_files(folder: Path, **files: list[bytes]) -> Path:
    for name, lines in files.items():
        log_files.write(folder / f"{name}.jsonl", lines)
    return folder


def contradictions() -> list[bytes]:
    """Write lines that contradict each other about the same messages."""
    lines = []
    author = Author.from_seed("contradictions")
    same_byte = [chr(256 * high + ord("A")) for high in range(5)]
    too_deep = b"[" * 3000 + b"]" * 3000
    for number in range(6):
        message = author.publish({"type": "post", "text": same_byte[1], "tangles": {"thread": CLAIM}}, number, 10)
        value = message["value"]
        lines += [to_line(message), to_line(value), to_line(message | {"timestamp": 5 - number})]
        # The same time, printed in two ways.
        lines += [to_line(message | {"timestamp": time}) for time in (0.0, -0.0)]
        lines += [to_line(message | {"key": key, "timestamp": 20}) for key in ("%wrong", 7, None)]
        # Ids hash only the low byte of each character: these messages have the same id and invalid signatures.
        lines += [to_line(message).replace(same_byte[1].encode(), other.encode()) for other in same_byte]
        forged = to_line(message).replace(b'"sequence":', b'"sequence":1')
        lines += [forged.replace(same_byte[1].encode(), other.encode()) for other in same_byte]
        # Decrypted by one exporter and not by another; the first may have invented the content.
        sealed = author.publish(box(b"sealed %d" % number), number, number)
        lines.append(to_line(sealed))
        for text in ("plain", "other"):
            shown = sealed["value"] | {
                "content": {"type": "post", "text": text, "root": value["signature"], "branch": "%"}
            }
            meta = {"private": True, "originalContent": sealed["value"]["content"]}
            lines.append(to_line(sealed | {"value": shown, "meta": meta, "timestamp": len(text) + number % 2}))
        # The fault of a message is not always visible in the parts that may be shown.
        for said in ({}, {"author": 7}):
            value = {"sequence": 1, "content": {"type": "post"}, "hash": "sha256", "deep": "?", **said}
            line = to_line({"key": f"%{number} wrong", "value": value, "timestamp": 1})
            lines.append(line.replace(b'"?"', too_deep))
        # A key, and a text with the fingerprint of a key.
        sealed = author.publish(box(b"group %d" % number), number, number)
        meta = {"private": True, "originalContent": sealed["value"]["content"]}
        secret = b"%032d" % number
        for text in (b64encode(secret), secret):
            shown = sealed["value"] | {"content": root_init(text.decode())}
            lines.append(to_line(sealed | {"value": shown, "meta": meta}))
    return lines


# `test_mutations.py` shuffles the lines of all logs without verification.
@pytest.fixture(scope="module")
def pair(project, tmp_path_factory):
    """Build the same lines twice: in one file; in another order, seven files and one partition."""
    lines = LINES + contradictions()
    one = run(project, "in_order", write_files(tmp_path_factory.mktemp("in_order"), log=lines))
    assert all(contents(one, table) for table in TABLES)
    folder = tmp_path_factory.mktemp("shuffled")
    scatter(folder, lines, 7)
    return one, run(project, "shuffled", folder, partitions=1)


@pytest.mark.parametrize("table", TABLES)
def test_order_files_and_partitions(table, pair):
    one, other = pair
    assert contents(other, table) == contents(one, table)


@pytest.fixture(scope="module")
def overlapping(project, tmp_path_factory):
    """Build three exports of one database: all of it, a later one with the second half, and a copy of the first."""
    folder = tmp_path_factory.mktemp("overlapping")
    return run(project, "overlapping", write_files(folder, first=LINES, second=LINES[len(LINES) // 2 :], copy=LINES))


@pytest.mark.long
@pytest.mark.parametrize("table", TABLES[3:])
def test_overlapping_logs(table, small, overlapping):
    assert contents(overlapping, table) == contents(small, table)


@pytest.mark.long
def test_overlapping_lines_are_counted(small, overlapping):
    expected = [json.loads(line) for line in (DATA / "ssb" / "small.expect_messages.jsonl").open()]
    again = [row for row in expected if row["line"] > len(LINES) // 2]
    assert contents(overlapping, "ssb_messages", "line_count") == contents(small, "ssb_messages", "line_count")
    once = {row["message_id"]: row["line_count"] for row in small.rows("ssb_messages")}
    counts = {row["message_id"]: row["line_count"] for row in overlapping.rows("ssb_messages")}
    twice = Counter(row["id"] for row in again if row.get("id"))
    assert counts == {key: 2 * count + twice[key] for key, count in once.items()}
    assert counts == Counter(row["id"] for row in [*expected, *expected, *again] if row.get("id"))
    rejects = overlapping.rows("ssb_rejects")
    assert len({(row["source_file"], row["line"]) for row in rejects}) == len(rejects)
    by_file = {}
    for row in rejects:
        by_file.setdefault(row["source_file"].rpartition("/")[2], []).append(log_files.without_places(row))
    of_whole = sorted(map(repr, map(log_files.without_places, small.rows("ssb_rejects"))))
    assert sorted(map(repr, by_file["first.jsonl"])) == sorted(map(repr, by_file["copy.jsonl"])) == of_whole
    assert len(by_file["second.jsonl"]) == sum(not row.get("ooo") for row in again)
    assert len(of_whole) == sum(not row.get("ooo") for row in expected)
