"""Builds of logs with faulty files: other files are read, and rejects name the faulty file."""

import gzip
import json
from collections import Counter
from urllib.parse import unquote

import pytest

from conftest import refusal
from dbt_projects import with_vars
from dbt_spark_python.session import found_input
from dbt_spark_python.session.error_causes import unread_file
from dbt_tangles.ingest import file_blocks
from dbt_tangles.ingest import log_lines as lines
from dbt_tangles.ingest.line_format import Reading
from event_builds import TABLES as TIMELINES
from odd_files import FAULTS, LOGS

pytestmark = pytest.mark.both

EVERY_LOG = pytest.mark.parametrize("log", LOGS)


@EVERY_LOG
def test_readable_lines_are_kept(log, odd_files):
    _, _, table, reason = LOGS[log]
    counts = {}
    for name, found in odd_files.rows(table, log, "damaged", ["source_file", "line", reason]).items():
        lines = [row["line"] for row in found if row[reason] not in FAULTS.values()]
        assert max(lines, default=0) - min(lines, default=0) == max(len(lines) - 1, 0), name
        if lines:
            counts[name] = len(lines)
    assert counts == odd_files.expected[log]


@EVERY_LOG
def test_every_fault_is_a_reject(log, odd_files):
    """Each fault is a reject after the last line of its file, with a reason, and a detail if the table has one."""
    rejects = odd_files.rejects(log, "damaged")
    faults = {
        name: [(row["line"], row["reason"]) for row in rows if row["reason"] in FAULTS.values()]
        for name, rows in rejects.items()
    }
    assert {name: found for name, found in faults.items() if found} == {
        name: [(odd_files.expected[log].get(name, 0) + 1, reason)] for name, reason in FAULTS.items()
    }
    rows = [row for rows in rejects.values() for row in rows if row["reason"] in FAULTS.values()]
    assert all(len(row.get("detail", "some words")) > 9 for row in rows)


def test_lines_of_compressed_files_are_used(odd_files):
    """Each line of any file, intact or damaged, is part of a message or a reject."""
    lines = odd_files.built.rows("stg_ssb__lines", ["message_id", "check_error"])
    sound = Counter(row["message_id"] for row in lines if row["check_error"] is None)
    messages = odd_files.built.rows("ssb_messages")
    assert {row["message_id"]: row["line_count"] for row in messages if row["is_usable"]} == sound
    assert sum(row["line_count"] for row in odd_files.built.rows("ssb_rejects")) == len(lines) - sound.total()
    rejects = [row for rows in odd_files.rejects("ssb", "damaged").values() for row in rows]
    # One file ends within a line, and the linked folder has two lines that are no messages.
    refused = Counter(row["reason"] in FAULTS.values() for row in rejects)
    assert refused == {True: len(FAULTS), False: 3}
    of_these = odd_files.rows("stg_ssb__lines", "ssb", "damaged", ["source_file"])
    assert sum(map(len, of_these.values())) == sum(odd_files.expected["ssb"].values()) + len(FAULTS)


@pytest.mark.long
def test_logs_without_a_sound_line(project, tmp_path):
    contents = {"ssb": b"no gzip", "pzp": gzip.compress(b"{}\n")[:5], "event": gzip.compress(b"{}\n\nx\n")}
    for log, content in contents.items():
        (tmp_path / log).mkdir()
        (tmp_path / log / "log.gz").write_bytes(content)
    logs = {f"{log}_log": str(tmp_path / log) for log in contents}
    tables = [f"{log}_{kind}" for log in ("ssb", "pzp") for kind in ("messages", "rejects")]
    built = project("no_sound_line", **logs).run("--select", *(f"+{table}" for table in (*tables, *TIMELINES)))
    for log, reason in (("ssb", "not_compressed"), ("pzp", "truncated_file")):
        (row,) = built.rows(f"{log}_rejects")
        assert (row["line"], row["reason"]) == (1, reason)
        assert built.rows(f"{log}_messages") == []
    assert {table: len(built.rows(table)) for table in TIMELINES} == {
        table: 3 * table.endswith("rejects") for table in TIMELINES
    }


@pytest.fixture(scope="module")
def spark(fixtures):
    from pyspark.sql import SparkSession

    return SparkSession.active()


@pytest.fixture
def elsewhere(monkeypatch):
    """All files count as files on other machines."""
    monkeypatch.setattr(found_input, "reads_this_disk", lambda *_: False)


def lines_at(spark, path):
    """Read the lines of a path."""
    return lines.read_lines(spark, str(path), "some_log", Reading(100))


def files_at(spark, path) -> Counter:
    """Read a path; count the lines of each file by its name."""
    rows = lines_at(spark, path).collect()
    return Counter(unquote(row["source_file"]).rpartition("/")[2] for row in rows if row["fault"] is None)


NAMES = [
    *("[a].jsonl", "{a,b}.jsonl", "a\\b.jsonl", "a*?.jsonl", "a b.jsonl", "a%20b%.jsonl", "a#b.jsonl", "é😀.jsonl"),
    *("a:b.jsonl", "[a]:b.jsonl.gz", "'\"`$x.jsonl", "+&=,;@!~.jsonl"),
]


@pytest.mark.parametrize("name", NAMES)
def test_paths_with_glob_characters(name, spark, tmp_path):
    """A path that exists is read literally, even if it is also a glob that matches other files."""
    content = gzip.compress(b"1\n2") if name.endswith(".gz") else b"1\n2"
    for other in ("a.jsonl", "b.jsonl", "ab.jsonl", "a1.jsonl"):
        (tmp_path / other).write_bytes(b"1\n")
    (tmp_path / name).write_bytes(content)
    assert files_at(spark, tmp_path / name) == {name: 2}
    folder = tmp_path / name.replace(".", "_")
    folder.mkdir()
    (folder / name).write_bytes(content)
    assert files_at(spark, folder) == {name: 2}


def test_dangling_links_that_globs_match(spark, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a.jsonl").write_bytes(b"1\n")
    for link in ("b.jsonl", "b.txt", "a/c.txt"):
        (tmp_path / link).symlink_to("nowhere")

    def gone(glob):
        rows = lines_at(spark, tmp_path / glob).where("fault = 'dangling_link'").collect()
        return sorted(row["source_file"].partition(f"{tmp_path}/")[2] for row in rows)

    assert gone("*.jsonl") == ["b.jsonl"]
    assert gone("{a,b}*") == ["a/c.txt", "b.jsonl", "b.txt"]
    assert gone("a*") == ["a/c.txt"]


def test_globs_and_colons(spark, tmp_path):
    (tmp_path / "a:b.jsonl").write_bytes(b"1\n")
    assert files_at(spark, tmp_path / "*") == files_at(spark, tmp_path) == {"a:b.jsonl": 1}


@pytest.mark.spark
def test_globs_and_colons_on_other_file_systems(spark, tmp_path, elsewhere):
    """Hadoop's globs fail on names with colons: the error states the cause and the remedy."""
    (tmp_path / "a:b.jsonl").write_bytes(b"1\n")
    with pytest.raises(ValueError, match=r"some_log: .*colon.*folder"):
        files_at(spark, tmp_path / "*")
    assert files_at(spark, tmp_path) == {"a:b.jsonl": 1}


@pytest.mark.spark
def test_plain_logs_elsewhere_are_read_by_spark_alone(spark, tmp_path, elsewhere):
    (tmp_path / "log.jsonl").write_bytes(b"1\n")
    plan = lines_at(spark, tmp_path)._jdf.queryExecution().toString()
    assert "FileScan text" in plan
    assert "MapInArrow" not in plan and "binaryFile" not in plan


@pytest.mark.both
@pytest.mark.parametrize("is_here", [True, pytest.param(False, marks=pytest.mark.spark)])
def test_lines_are_numbered_in_their_file(is_here, spark, tmp_path, monkeypatch, request):
    """Also if several tasks read a file: a file of this machine in blocks, another in Spark's splits."""
    texts = {"a.jsonl": [b"%d" % number for number in range(200)], "b.jsonl": [b"", b"x" * 150, b"", b"end"]}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(b"\n".join(text))
    monkeypatch.setattr(file_blocks, "BLOCK_BYTES", 64)
    monkeypatch.setattr(file_blocks, "CHUNK_BYTES", 50)
    if not is_here:
        request.getfixturevalue("elsewhere")
    size = "spark.sql.files.maxPartitionBytes"
    usual = spark.conf.get(size)
    try:
        spark.conf.set(size, "64")
        rows = lines_at(spark, tmp_path).collect()
    finally:
        spark.conf.set(size, usual)
    found = sorted((row["source_file"].rpartition("/")[2], row["line"], bytes(row["raw"])[:100]) for row in rows)
    assert found == [(name, number, line[:100]) for name, text in texts.items() for number, line in enumerate(text, 1)]


@pytest.mark.spark
def test_files_on_other_file_systems(spark, tmp_path, monkeypatch, elsewhere):
    """A small remote file is decompressed by the project; Spark decompresses a large remote file."""
    packed = gzip.compress(b"1\n2\n3\n")
    (tmp_path / "small.gz").write_bytes(packed[:-1])
    (tmp_path / "large.gz").write_bytes(packed + gzip.compress(b"4\n"))
    found = lines.find_input

    def found_on_hdfs(*arguments):
        log = found(*arguments)
        return log._replace(files=[file.replace("file:", "hdfs:") for file in log.files])

    monkeypatch.setattr(lines, "find_input", found_on_hdfs)
    monkeypatch.setattr(lines, "MAX_CONTENT_BYTES", len(packed))
    rows = lines_at(spark, tmp_path)
    assert Counter(row["fault"] for row in rows.collect()) == {None: 7, "truncated_file": 1}

    (tmp_path / "large.gz").write_bytes((packed * 9)[:-1])
    with pytest.raises(Exception, match="FAILED_READ_FILE") as caught:
        lines_at(spark, tmp_path).collect()
    said = unread_file(str(caught.value))
    assert "large.gz could not be read: Unexpected end of input stream." in said
    assert "gzip -dc" in said


@pytest.mark.parametrize("name", ["log.jsonl", "log.gz"])
def test_error_names_a_deleted_file(name, spark, tmp_path):
    (tmp_path / name).write_bytes(gzip.compress(b"1\n"))
    rows = lines_at(spark, tmp_path)
    rows.schema  # noqa: B018
    (tmp_path / name).unlink()
    with pytest.raises(Exception, match=name) as caught:
        rows.collect()
    said = unread_file(str(caught.value))
    assert f"{tmp_path}/{name} could not be read: " in said
    assert len(said.splitlines()) == 1


def schema_is_refused(schema: str) -> str:
    """Return the error that names the variable and shows the given schema."""
    return f"TANGLES_SCHEMA (the schema of the profile's target) is {json.dumps(schema)}, but"


@pytest.mark.parametrize("schema", ["a-b", "Tangles", "12", "a b", "../a", "a;b", "", "ü", "a" * 129, "a.b", "`a`"])
def test_run_refuses_unusable_schema_names(schema, project, manifest):
    assert schema_is_refused(schema) in refusal(project(schema).invoke("run", manifest=manifest))


def test_parse_refuses_unusable_schema_names(project):
    assert schema_is_refused("a-b") in refusal(project("a-b").invoke("parse"))


JINJA = [
    *("{{ 1 }}", "/logs/{{ target.name }}", "/logs/{% raw %}x{% endraw %}", "/logs/{# nothing #}x"),
    *("/logs/{% raw %}x", "/logs/{{", "{#"),
]
#: Values for the vars of all four logs.
JINJA_OF_LOGS = [
    dict(zip(("ssb_log", "pzp_log", "autobase_log", "event_log"), values, strict=True))
    for values in (JINJA[:4], JINJA[3:])
]


def check_jinja_is_refused(values, result):
    said = refusal(result)
    for log, value in values.items():
        assert f"var '{log}' is {json.dumps(value)}, but" in said


@pytest.mark.parametrize("values", JINJA_OF_LOGS)
def test_jinja_in_vars(values, project):
    check_jinja_is_refused(values, project("jinja", **values).invoke("parse"))


@pytest.mark.parametrize("values", JINJA_OF_LOGS)
@pytest.mark.parametrize("scope", ["", "tangles"])
def test_jinja_in_vars_of_dbt_project(values, scope, project, tmp_path):
    folder = with_vars(tmp_path / "p", **({scope: values} if scope else values))
    check_jinja_is_refused(values, project("jinja_of_project", folder).invoke("parse"))
