"""What may be wrong with the files of a log, through dbt: whatever it is, the rest is read and the file is said."""

import gzip
import json
import lzma
import zlib
from collections import Counter, defaultdict
from itertools import islice
from urllib.parse import unquote

import pytest

from conftest import DATA, ROOT
from dbt_spark_python.submission import unread_file
from dbt_spark_python.unpack import Reading

pytestmark = pytest.mark.both_at_length

NO_SEEDS = ("--exclude-resource-type", "seed")
ONLY_MESSAGES = ("--select", "+ssb_messages", "+ssb_rejects", "--indirect-selection", "cautious", *NO_SEEDS)
ODD = "[x] {1,2} a\\b c:d é%20#?*"
FAULTS = {
    "early.jsonl.gz": "truncated_file",
    "no checksum.jsonl.gz": "truncated_file",
    "two, one early.gz": "truncated_file",
    "after.gz": "trailing_garbage",
    "checksum.gz": "corrupt_file",
    "text.gz": "not_compressed",
    "log.xz": "unsupported_compression",
    "log.LZ4": "unsupported_compression",
    "below/log.zip": "unsupported_compression",
    "gone.jsonl": "dangling_link",
    "below/gone.gz": "dangling_link",
}
LOGS = {
    "ssb": ("ssb/small.jsonl", "ssb_rejects", "check_error"),
    "pzp": ("sets/pzp_synth.jsonl.gz", "pzp_rejects", "reject_reason"),
    "autobase": ("autobase/random.jsonl.gz", "autobase_rejects", "reject_reason"),
    "event": ("timelines/small.jsonl.gz", "timeline_rejects", "reject_reason"),
}
EVERY_LOG = pytest.mark.parametrize("log", LOGS)


def first_lines(log: str, count: int = 40) -> list[bytes]:
    """Read the first lines of a log."""
    path = DATA / LOGS[log][0]
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as lines:
        return [line.rstrip(b"\n") for line in islice(lines, count)]


def write_damages(folder, lines: list[bytes]) -> dict[str, int]:
    """Write every kind of file, and return how many lines are to be had from each."""
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
        "padded.gz": (packed + b"\0" * 512, count),
        "empty.gz": (b"", 0),
        "nothing.gz": (gzip.compress(b""), 0),
        f"{ODD}.jsonl": (text, count),
        f"below/{ODD}.gz": (packed, count),
        "early.jsonl.gz": (half, had),
        "no checksum.jsonl.gz": (packed[:-8], count),
        "two, one early.gz": (packed + half, count + had),
        "after.gz": (packed + b"garbage after it", count),
        "checksum.gz": (packed[:-8] + bytes(4) + packed[-4:], count),
        "text.gz": (text, 0),
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
    return {name: had for name, (_, had) in files.items() if had} | {"linked.jsonl": count}


@pytest.fixture(scope="module")
def damaged(project, tmp_path_factory):
    """Four logs in which everything is wrong, in one build with all its tests; and the lines to be had of each file."""
    folders = {log: tmp_path_factory.mktemp(f"{log} damaged [logs]") for log in LOGS}
    expected = {log: write_damages(folders[log], first_lines(log)) for log in LOGS}
    built = project("damaged_files", **{f"{log}_log": str(folder) for log, folder in folders.items()})
    return built.build(*NO_SEEDS), folders, expected


def by_file(rows: list[dict], folder) -> dict[str, list[dict]]:
    """Group rows by their file's name in the folder."""
    files = defaultdict(list)
    for row in rows:
        files[unquote(row["source_file"]).partition(f"{folder}/")[2]].append(row)
    return files


@EVERY_LOG
def test_all_lines_that_can_be_read(log, damaged):
    """Each file's lines, numbered without holes, are those there were before the damage."""
    built, folders, expected = damaged
    table = {"event": "events"}.get(log, log)
    rows = built.rows(f"stg_{table}__lines", ["source_file", "row_id", LOGS[log][2]])
    counts = {}
    for name, found in by_file(rows, folders[log]).items():
        lines = [row["row_id"] for row in found if row[LOGS[log][2]] not in FAULTS.values()]
        assert max(lines, default=0) - min(lines, default=0) == max(len(lines) - 1, 0), name
        if lines:
            counts[name] = len(lines)
    assert counts == expected[log]


@EVERY_LOG
def test_every_fault_is_a_row(log, damaged):
    """Behind the last line of its file, with its reason, and in words where the table has them."""
    built, folders, expected = damaged
    rejects = by_file(built.rows(LOGS[log][1]), folders[log])
    faults = {
        name: [(row["line"], row["reason"]) for row in rows if row["reason"] in FAULTS.values()]
        for name, rows in rejects.items()
    }
    assert {name: found for name, found in faults.items() if found} == {
        name: [(expected[log].get(name, 0) + 1, reason)] for name, reason in FAULTS.items()
    }
    rows = [row for rows in rejects.values() for row in rows if row["reason"] in FAULTS.values()]
    assert all(len(row.get("detail", "some words")) > 9 for row in rows)


def test_lines_of_packed_files_are_used(damaged):
    """Messages of whole and of damaged files alike."""
    built, _, expected = damaged
    rejected = Counter(row["reason"] in FAULTS.values() for row in built.rows("ssb_rejects"))
    usable = sum(row["line_count"] for row in built.rows("ssb_messages") if row["is_usable"])
    assert usable + rejected[False] == sum(expected["ssb"].values())
    assert rejected[True] == len(FAULTS)


@pytest.mark.parametrize("content", [b"no gzip", gzip.compress(b"{}\n")[:5]])
def test_nothing_but_a_damaged_file(content, project, tmp_path):
    """The build is green, and there is one reject."""
    (tmp_path / "log.gz").write_bytes(content)
    built = project("only_damage", ssb_log=str(tmp_path)).build(*ONLY_MESSAGES)
    (row,) = built.rows("ssb_rejects")
    assert (row["line"], row["reason"]) == (1, "not_compressed" if content == b"no gzip" else "truncated_file")
    assert built.rows("ssb_messages") == []


def test_pretty(project, tmp_path):
    """Objects between blank lines, in a damaged file whose name looks like a pattern."""
    text = (DATA / "ssb" / "variants_pretty.txt").read_bytes()
    objects = [part for part in text.split(b"\n\n") if part.strip()]
    path = tmp_path / f"{ODD}.txt.gz"
    path.write_bytes(gzip.compress(b"\n\n\n" + text + b"\n\n  \n\n{oops\n\n{}") + b"x")
    built = project("pretty_damaged", ssb_log=str(path), ssb_log_format="pretty").build(*ONLY_MESSAGES)
    assert {row["message_id"] for row in built.rows("ssb_messages")} == {json.loads(part)["key"] for part in objects}
    assert [(row["line"], row["reason"]) for row in sorted(built.rows("ssb_rejects"), key=lambda row: row["line"])] == [
        (len(objects) + 1, "malformed_json"),
        (len(objects) + 2, "not_a_message"),
        (len(objects) + 3, "trailing_garbage"),
    ]


def test_a_link_that_leads_nowhere(project, tmp_path):
    """Named itself, it is an error that says so."""
    (tmp_path / "log.jsonl").symlink_to("nowhere")
    result = project("no_file", event_log=str(tmp_path / "log.jsonl")).invoke("run", "--select", "stg_events__lines")
    (message,) = [r.message for r in result.result if r.status == "error"]
    assert "event_log" in message
    assert "link" in message
    assert str(tmp_path / "log.jsonl") in message


@pytest.fixture(scope="module")
def spark(damaged):
    """The session that dbt runs in."""
    from pyspark.sql import SparkSession

    return SparkSession.active()


def files_at(spark, path) -> Counter:
    """Read a path, and count the lines of each file, by its name."""
    from dbt_spark_python.lines import read_lines

    rows = read_lines(spark, str(path), "some_log", Reading(100)).collect()
    return Counter(unquote(row["source_file"]).rpartition("/")[2] for row in rows if row["fault"] is None)


NAMES = [
    *("[a].jsonl", "{a,b}.jsonl", "a\\b.jsonl", "a*?.jsonl", "a b.jsonl", "a%20b%.jsonl", "a#b.jsonl", "é😀.jsonl"),
    *("a:b.jsonl", "[a]:b.jsonl.gz", "'\"`$x.jsonl", "+&=,;@!~.jsonl"),
]


@pytest.mark.parametrize("name", NAMES)
def test_names(name, spark, tmp_path):
    """A file, or a folder, is found by the very name it has, though a glob of that form would match others."""
    lines = gzip.compress(b"1\n2") if name.endswith(".gz") else b"1\n2"
    for other in ("a.jsonl", "b.jsonl", "ab.jsonl", "a1.jsonl"):
        (tmp_path / other).write_bytes(b"1\n")
    (tmp_path / name).write_bytes(lines)
    assert files_at(spark, tmp_path / name) == {name: 2}
    folder = tmp_path / name.replace(".", "_")
    folder.mkdir()
    (folder / name).write_bytes(lines)
    assert files_at(spark, folder) == {name: 2}


GLOBS = {
    "a*.jsonl": "aa.jsonl ab.jsonl",
    "a[ab].jsonl": "aa.jsonl ab.jsonl",
    "{aa,b}.jsonl": "aa.jsonl b.jsonl",
    "*": "aa.jsonl ab.jsonl b.jsonl c[1].jsonl c.gz",
    "c\\[1\\].jsonl": "c[1].jsonl",
    "?.*": "b.jsonl c.gz",
}


@pytest.mark.parametrize("glob", GLOBS)
def test_globs(glob, spark, tmp_path):
    for name in ("aa.jsonl", "ab.jsonl", "b.jsonl", "c[1].jsonl", "_a.jsonl"):
        (tmp_path / name).write_bytes(b"1\n")
    (tmp_path / "c.gz").write_bytes(gzip.compress(b"1\n"))
    assert sorted(files_at(spark, tmp_path / glob)) == sorted(GLOBS[glob].split())


def test_links_that_globs_match(spark, tmp_path):
    """Those that lead nowhere are said, if the glob, or a folder that it matches, has them."""
    from dbt_spark_python.lines import read_lines

    (tmp_path / "a").mkdir()
    (tmp_path / "a.jsonl").write_bytes(b"1\n")
    for link in ("b.jsonl", "b.txt", "a/c.txt"):
        (tmp_path / link).symlink_to("nowhere")

    def gone(glob):
        lines = read_lines(spark, f"{tmp_path}/{glob}", "some_log", Reading(100))
        rows = lines.where("fault = 'dangling_link'").collect()
        return sorted(row["source_file"].partition(f"{tmp_path}/")[2] for row in rows)

    assert gone("*.jsonl") == ["b.jsonl"]
    assert gone("{a,b}*") == ["a/c.txt", "b.jsonl", "b.txt"]
    assert gone("a*") == ["a/c.txt"]


@pytest.mark.spark
def test_globs_and_colons(spark, tmp_path):
    """Spark's globs stumble over colons: that is said, and how to go on."""
    (tmp_path / "a:b.jsonl").write_bytes(b"1\n")
    with pytest.raises(ValueError, match=r"some_log: .*colon.*folder"):
        files_at(spark, tmp_path / "*")
    assert files_at(spark, tmp_path) == {"a:b.jsonl": 1}


@pytest.mark.spark
def test_plain_logs_are_spark_s(spark, tmp_path):
    """A log without compressed files takes neither Python nor a job to be read."""
    from dbt_spark_python.lines import read_lines

    (tmp_path / "log.jsonl").write_bytes(b"1\n")
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(None)
    plan = read_lines(spark, str(tmp_path), "some_log", Reading(100))._jdf.queryExecution().toString()
    assert "FileScan text" in plan
    assert "MapInArrow" not in plan
    assert "binaryFile" not in plan
    assert spark.sparkContext.statusTracker().getJobIdsForGroup(None) == jobs


@pytest.mark.spark
def test_files_on_other_file_systems(spark, tmp_path, monkeypatch):
    """What is not on a local disk comes through Spark, if it is small; and else is Spark's own to read."""
    from dbt_spark_python import lines

    packed = gzip.compress(b"1\n2\n3\n")
    (tmp_path / "small.gz").write_bytes(packed[:-1])
    (tmp_path / "large.gz").write_bytes(packed + gzip.compress(b"4\n"))
    found = lines._find

    def elsewhere(*arguments):
        place, files = found(*arguments)
        return place, [file.replace("file:", "hdfs:") for file in files]

    monkeypatch.setattr(lines, "_find", elsewhere)
    monkeypatch.setattr(lines, "MAX_CONTENT_BYTES", len(packed))
    rows = lines.read_lines(spark, str(tmp_path), "some_log", Reading(100))
    assert Counter(row["fault"] for row in rows.collect()) == {None: 7, "truncated_file": 1}

    (tmp_path / "large.gz").write_bytes((packed * 9)[:-1])
    with pytest.raises(Exception, match="FAILED_READ_FILE") as caught:
        lines.read_lines(spark, str(tmp_path), "some_log", Reading(100)).collect()
    said = unread_file(str(caught.value))
    assert "large.gz could not be read: Unexpected end of input stream." in said
    assert "gzip -dc" in said


@pytest.mark.parametrize("name", ["log.jsonl", "log.gz"])
def test_a_file_that_vanishes(name, spark, tmp_path):
    """Between the listing and the reading: the error says which."""
    from dbt_spark_python.lines import read_lines

    (tmp_path / name).write_bytes(gzip.compress(b"1\n"))
    rows = read_lines(spark, str(tmp_path), "some_log", Reading(100))
    rows.schema  # noqa: B018
    (tmp_path / name).unlink()
    with pytest.raises(Exception, match=name) as caught:
        rows.collect()
    said = unread_file(str(caught.value))
    assert f"{tmp_path}/{name} could not be read: " in said
    assert len(said.splitlines()) == 1


def test_other_errors_are_not_about_files():
    assert unread_file("KeyError: 'boom'\nwhile reading") is None


@pytest.mark.parametrize("schema", ["a-b", "Tangles", "12", "a b", "../a", "a;b", "", "ü", "a" * 129, "a.b", "`a`"])
def test_schemas(schema, project):
    """A name that is none for Spark is refused before anything runs."""
    result = project(schema).invoke("parse")
    assert not result.success
    assert f"TANGLES_SCHEMA (the schema of the profile's target) is {json.dumps(schema)}, but" in str(result.exception)


JINJA = [
    *("{{ 1 }}", "/logs/{{ target.name }}", "/logs/{% raw %}x{% endraw %}", "/logs/{# nothing #}x"),
    *("/logs/{% raw %}x", "/logs/{{", "{#"),
]


@pytest.mark.parametrize(("log", "value"), [*(("ssb_log", value) for value in JINJA), ("event_log", JINJA[0])])
def test_jinja_in_vars(log, value, project):
    """It is refused, not run, wherever the var is given."""
    result = project("jinja", **{log: value}).invoke("parse")
    assert not result.success
    assert f"var '{log}' is " in str(result.exception)
    assert value in str(result.exception)


@pytest.mark.parametrize("value", JINJA)
@pytest.mark.parametrize("scope", ["", "  tangles:\n  "])
def test_jinja_in_vars_of_the_project(value, scope, project, tmp_path):
    """Where no quotes can mend it, too."""
    for entry in ROOT.iterdir():
        if entry.name in {"models", "python_models", "macros", "seeds", "tests", "docs"}:
            (tmp_path / entry.name).symlink_to(entry)
    text = (ROOT / "dbt_project.yml").read_text()
    assert "\n  pzp_log: null\n" in text
    changed = text.replace("\n  pzp_log: null\n", f"\n{scope}  pzp_log: {json.dumps(value)}\n")
    (tmp_path / "dbt_project.yml").write_text(changed)
    result = project("jinja_of_project", tmp_path).invoke("parse")
    assert not result.success
    assert f"var 'pzp_log' is {json.dumps(value)}" in str(result.exception)
