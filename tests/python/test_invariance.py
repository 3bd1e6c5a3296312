"""Tables depend on the lines alone: not on their order, nor on the files they are in, nor on Spark's partitions."""

import gzip
import json
import random
from base64 import b64encode
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from conftest import DATA, DbtProject
from fixtures.ssb.author import Author, box, to_line
from group_kit import root_init

LINES = (DATA / "ssb" / "small.jsonl").read_bytes().rstrip(b"\n").split(b"\n")
CLAIM = {"root": None, "previous": None}
# What depends on the files by its nature.
OF_FILES = {"ssb_rejects": {"source_file", "line"}, "stg_ssb__lines": {"source_file", "block_start", "row_id"}}
TABLES = (
    *("stg_ssb__lines", "ssb_messages", "ssb_rejects", "feeds", "feed_messages"),
    *("tangle_messages", "tangles", "tangle_edges", "tangle_ancestors", "tangle_clocks"),
    *("int_feed_links", "int_feed_chain", "int_tangle_candidates", "int_tangle_levels"),
)


def contents(built: DbtProject, table: str, *left_out: str) -> list[tuple]:
    """Read a table, rows in a fixed order."""
    left_out = {*left_out, *OF_FILES.get(table, ())}
    rows = ({name: value for name, value in row.items() if name not in left_out} for row in built.rows(table))
    return sorted((tuple(row.items()) for row in rows), key=repr)


def run(project, schema: str, log: Path, **variables) -> DbtProject:
    """Build a log, with clocks for a part of the tangles."""
    built = project(schema, ssb_log=str(log), ancestor_limit=6, **variables)
    built.run("--select", *(f"+{table}" for table in TABLES))
    return built


def write(folder: Path, **files: list[bytes]) -> Path:
    """Write files of lines."""
    for name, lines in files.items():
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return folder


def contradictions() -> list[bytes]:
    """Write lines that say different things of the same messages."""
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
        # Ids hash only the low byte of each character, so these have the same id, and no valid signature.
        lines += [to_line(message).replace(same_byte[1].encode(), other.encode()) for other in same_byte]
        forged = to_line(message).replace(b'"sequence":', b'"sequence":1')
        lines += [forged.replace(same_byte[1].encode(), other.encode()) for other in same_byte]
        # Decrypted by one exporter and not by another, who may have made it up besides.
        sealed = author.publish(box(b"sealed %d" % number), number, number)
        lines.append(to_line(sealed))
        for text in ("plain", "other"):
            shown = sealed["value"] | {
                "content": {"type": "post", "text": text, "root": value["signature"], "branch": "%"}
            }
            meta = {"private": True, "originalContent": sealed["value"]["content"]}
            lines.append(to_line(sealed | {"value": shown, "meta": meta, "timestamp": len(text) + number % 2}))
        # Claimed ids decide where signatures are not verified, even those of texts that are too long to be printed.
        for name in ("a", "b", "c"):
            content = {"type": "post", "text": name, "tangles": {name: CLAIM}}
            claimed = {"key": f"%{number}", "timestamp": 1}
            said = {"author": f"@{name}", "sequence": ord(name), "content": content}
            lines.append(to_line(claimed | {"value": said}))
            said = said | {"content": {"type": "post", "deep": "?"}}
            line = to_line({"key": f"%{number} deep", "value": said, "timestamp": 1})
            lines.append(line.replace(b'"?"', too_deep))
        # What is wrong with a message is not always to be seen in what can be shown of it.
        for said in ({}, {"author": 7}):
            value = {"sequence": 1, "content": {"type": "post"}, "hash": "sha256", "deep": "?", **said}
            line = to_line({"key": f"%{number} wrong", "value": value, "timestamp": 1})
            lines.append(line.replace(b'"?"', too_deep))
        # A key, and what is none but has its fingerprint.
        sealed = author.publish(box(b"group %d" % number), number, number)
        meta = {"private": True, "originalContent": sealed["value"]["content"]}
        secret = b"%032d" % number
        for text in (b64encode(secret), secret):
            shown = sealed["value"] | {"content": root_init(text.decode())}
            lines.append(to_line(sealed | {"value": shown, "meta": meta}))
    return lines


@pytest.fixture(scope="module", params=[True, False], ids=["verified", "trusted"])
def pair(request, project, tmp_path_factory):
    """Build the same lines twice: in one file; in another order, seven files and another number of partitions."""
    mode = {"verify_signatures": request.param}
    name = f"order_{request.param}".lower()
    folder = tmp_path_factory.mktemp(name)
    lines = LINES + contradictions()
    one = run(project, name, write(folder, log=lines), **mode)
    assert all(contents(one, table) for table in TABLES)

    rng = random.Random(name)
    shuffled = rng.sample(lines, len(lines))
    cuts = [0, *sorted(rng.sample(range(len(lines)), 6)), len(lines)]
    folder = tmp_path_factory.mktemp(f"{name}_shuffled")
    write(folder, **{str(number): shuffled[start:end] for number, (start, end) in enumerate(pairwise(cuts))})
    packed = folder / "3.jsonl"
    (folder / "3.jsonl.gz").write_bytes(gzip.compress(packed.read_bytes()))
    packed.unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TANGLES_SHUFFLE_PARTITIONS", "1" if request.param else "13")
        return one, run(project, f"{name}_shuffled", folder, **mode)


@pytest.mark.parametrize("table", TABLES)
def test_order_files_and_partitions(table, pair):
    """Every table is the same."""
    one, other = pair
    assert contents(other, table) == contents(one, table)


@pytest.fixture(scope="module")
def original(project):
    """Build the log as it is."""
    return run(project, "original", DATA / "ssb" / "small.jsonl")


@pytest.fixture(scope="module")
def overlapping(project, tmp_path_factory):
    """Build two exports of the same database: a whole one, and a later one with the second half."""
    folder = tmp_path_factory.mktemp("overlapping")
    return run(project, "overlapping", write(folder, first=LINES, second=LINES[len(LINES) // 2 :]))


@pytest.mark.parametrize("table", TABLES[3:])
def test_overlapping_logs(table, original, overlapping):
    """Lines that come twice change nothing that is computed of the messages."""
    assert contents(overlapping, table) == contents(original, table)


def test_overlapping_lines_are_counted(original, overlapping):
    """Messages are the same but for the number of their lines, and a reject is a reject each time."""
    expected = [json.loads(line) for line in (DATA / "ssb" / "small.expect_messages.jsonl").open()]
    again = [row for row in expected if row["line"] > len(LINES) // 2]
    assert contents(overlapping, "ssb_messages", "line_count") == contents(original, "ssb_messages", "line_count")
    counts = {row["message_id"]: row["line_count"] for row in overlapping.rows("ssb_messages")}
    assert counts == Counter(row["id"] for row in [*expected, *again] if row.get("id"))
    assert len(overlapping.rows("ssb_rejects")) == sum(not row.get("ooo") for row in [*expected, *again])
    twice = overlapping.rows("ssb_rejects")
    assert len({(row["source_file"], row["line"]) for row in twice}) == len(twice)


def test_the_same_log_twice(original, project, tmp_path):
    """A copy of a log doubles the lines, and nothing else."""
    doubled = run(project, "doubled", write(tmp_path, log=LINES, copy=LINES))
    for table in TABLES[3:]:
        assert contents(doubled, table) == contents(original, table)
    counts = {row["message_id"]: row["line_count"] for row in original.rows("ssb_messages")}
    assert {row["message_id"]: row["line_count"] for row in doubled.rows("ssb_messages")} == {
        key: 2 * count for key, count in counts.items()
    }
    assert contents(doubled, "ssb_rejects") == sorted(2 * contents(original, "ssb_rejects"), key=repr)
    assert contents(doubled, "ssb_messages", "line_count") == contents(original, "ssb_messages", "line_count")
