"""`tangles lint`: kinds and files of logs, forms of findings, bounds, exit codes and time."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

import pytest

from answer_schemas import validate
from cli_kit import HOSTILE, assert_harmless, tangles
from conftest import DATA
from dbt_tangles.lint import forms
from dbt_tangles.lint.findings import Finding, group_by_kind, reading_of
from dbt_tangles.lint.log_files import find_files
from dbt_tangles.lint.log_kinds import recognise
from fixtures.ssb.author import Author, to_line

NODE = {"base": "b", "indexers": ["ab" * 32]}
EVENT = {"timeline": "t", "event": "e", "after": [], "arrival": 1}
MOOT = {"data": None, "metadata": {}, "sigkey": "", "sig": ""}


def lint(*words, text: bytes | None = None):
    return tangles("lint", *map(str, words), input=text)


def write(path, *documents, raw: bytes = b""):
    path.write_bytes(b"".join(json.dumps(document).encode() + b"\n" for document in documents) + raw)
    return path


@pytest.fixture
def feed(tmp_path):
    alice = Author.from_seed("lint")
    messages = [alice.publish({"type": "post", "text": str(n)}, n) for n in range(3)]
    path = tmp_path / "feed.jsonl"
    path.write_bytes(b"\n".join(map(to_line, messages)) + b"\n")
    return path


def test_one_finding_a_line(feed):
    result = lint(feed)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "3 lines: no finding\n")
    with feed.open("ab") as file:
        file.write(b"{}\nnot JSON\n")
    result = lint(feed)
    assert result.exit_code == 1 and result.stderr == "5 lines: 2 findings\n"
    first, second = result.stdout.splitlines()
    assert first == f"{feed}:4: not_a_message: The line is JSON without a message in it: a bare key, a live marker, ..."
    assert second.startswith(f"{feed}:5: malformed_json: ") and second.endswith(
        "(not JSON at column 1: expecting value)"
    )


def test_a_gap_is_one_finding(feed):
    lines = feed.read_bytes().splitlines(keepends=True)
    feed.write_bytes(lines[0] + lines[2])
    (line,) = lint(feed).stdout.splitlines()
    assert ":2: after_gap: " in line and "verified up to sequence 1; 1 message comes after sequence 2" in line


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        ("ssb", {"key": "%", "value": {"author": "@", "content": {}}}),
        ("ssb", {"author": "@", "content": {}}),
        ("pzp", {"id": "i", "msg": MOOT}),
        ("pzp", MOOT),
        ("autobase", NODE),
        ("events", EVENT),
    ],
)
def test_kinds_are_recognised(kind, document):
    assert recognise([b"not JSON", b"[]", json.dumps(document).encode()]) == kind


def test_most_lines_decide_the_kind():
    lines = [json.dumps(each).encode() for each in (NODE, EVENT, EVENT)]
    assert recognise(lines) == "events" and recognise([b"{}", b"1"]) is None


def test_logs_of_several_kinds(tmp_path, feed):
    write(tmp_path / "events.jsonl", EVENT, EVENT | {"arrival": 2})
    nodes = write(tmp_path / "nodes.jsonl", NODE, NODE | {"indexers": ["cd" * 32]})
    (tmp_path / "nodes.GZ").write_bytes(gzip.compress(nodes.read_bytes()))
    nodes.unlink()
    answer = validate(json.loads(lint(tmp_path, "--json").stdout))
    assert {log["kind"]: log["lines"] for log in answer["logs"]} == {"ssb": 3, "events": 2, "autobase": 2}
    assert answer["counts"] == {"duplicate": 1, "conflicting_base": 1} and answer["total"] == 2
    (duplicate,) = [row for row in answer["findings"] if row["kind"] == "events"]
    assert (duplicate["line"], duplicate["id"]) == (2, "e")


def test_a_damaged_file_is_of_the_first_of_equally_frequent_kinds(tmp_path):
    places = [write(tmp_path / "events.jsonl", EVENT), write(tmp_path / "nodes.jsonl", NODE), tmp_path / "z.jsonl"]
    places[2].write_text("damaged\n")
    for names in ((0, 1, 2), (1, 0, 2)):
        by_kind = group_by_kind([find_files(str(places[n]))[0] for n in names], reading_of(None, False), None)
        assert [len(files) for files in by_kind.values()] == [2, 1]


def test_a_given_kind_counts(tmp_path):
    result = lint(write(tmp_path / "log", EVENT), "--kind", "ssb")
    assert ":1: not_a_message: " in result.stdout


def test_objects_between_blank_lines(tmp_path):
    assert lint(DATA / "ssb" / "variants_pretty.txt", "--pretty").stdout.count("malformed_json") == 0
    assert lint(DATA / "ssb" / "variants_pretty.txt", "--kind", "ssb").stdout.count("malformed_json") > 10


def test_ignored_reasons(feed):
    lines = feed.read_bytes().splitlines(keepends=True)
    feed.write_bytes(lines[0] + lines[2] + b"{}\n")
    assert lint(feed, "--ignore", "after_gap", "--ignore", "not_a_message").exit_code == 0
    assert lint(feed, "--ignore", "after_gap").stdout.count("\n") == 1


def test_limit(tmp_path):
    path = write(tmp_path / "log", *({"timeline": "t", "event": n} for n in range(5)))
    result = lint(path, "--limit", 2)
    assert result.stdout.count("\n") == 2 and "5 findings; the first 2 are shown" in result.stderr
    answer = validate(json.loads(lint(path, "--limit", 2, "--json").stdout))
    assert len(answer["findings"]) == 2 and answer["counts"] == {"malformed": 5}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.jsonl"], "there is no file at 'nowhere.jsonl' (the path does not exist)"),
        (["s3a://bucket/a.jsonl"], "is on another machine"),
        (["empty.jsonl"], "empty.jsonl: the file is empty"),
        (["other.jsonl"], "name the kind with --kind"),
        (["fifo"], "pipes, sockets and devices are no files"),
        (["printed.json"], "jq -c '.[]' each element of an array"),
        ([], "Missing argument"),
    ],
)
def test_wrong_use(tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "other.jsonl").write_text("no log\n")
    (tmp_path / "printed.json").write_text(json.dumps([EVENT], indent=2))
    os.mkfifo(tmp_path / "fifo")
    result = lint(*words)
    assert result.exit_code == 2 and said in result.stderr and result.stdout == ""


def test_a_wrong_network_key(feed, monkeypatch):
    monkeypatch.setenv("TANGLES_SSB_HMAC_KEY", "secret")
    result = lint(feed)
    assert result.exit_code == 2 and "TANGLES_SSB_HMAC_KEY" in result.stderr and "secret" not in result.output


@pytest.mark.parametrize("name", ["a b%#?.jsonl", "ü:x.jsonl"])
def test_sarif(tmp_path, monkeypatch, name):
    """Places are URIs. A relative path stays relative; its colon begins no scheme."""
    write(tmp_path / name, EVENT, EVENT | {"after": 1})
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / name, Path(name)):
        log = json.loads(lint(path, "--format", "sarif").stdout)
        (run,) = log["runs"]
        (result,) = run["results"]
        assert log["version"] == "2.1.0" and run["tool"]["driver"]["name"] == "tangles"
        assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [result["ruleId"]] == ["malformed"]
        place = result["locations"][0]["physicalLocation"]
        assert place.keys() == {"artifactLocation", "region"} and place["region"] == {"startLine": 2}
        uri = urlsplit(place["artifactLocation"]["uri"])
        assert uri.scheme == ("file" if path.is_absolute() else "") and not uri.netloc + uri.query + uri.fragment
        assert os.fsdecode(unquote_to_bytes(uri.path)) == str(path)


def test_annotations(tmp_path):
    path = write(tmp_path / "a,b: 100%.jsonl", EVENT | {"after": 1})
    (line,) = lint(path, "--format", "github").stdout.splitlines()
    name = str(path).replace("%", "%25").replace(",", "%2C").replace(":", "%3A")
    assert line.startswith(f"::error file={name},line=1,title=malformed::")


@pytest.mark.parametrize("form", ["text", "sarif", "github"])
def test_hostile_texts(tmp_path, form):
    place = tmp_path / HOSTILE.replace("/", "").replace("\x00", "")
    write(place, EVENT | {"event": HOSTILE}, EVENT | {"event": HOSTILE, "arrival": 2}, raw=b"\x1b[31m" * 10_000 + b"\n")
    for words in ([], ["--json"]) if form == "text" else ([],):
        result = lint(place, "--format", form, *words)
        assert result.exit_code == 1
        assert_harmless(result)
    long = Finding("f", 1, "ssb", "bad_link", "x" * 10_000, None, 1)
    assert len(forms.as_text(long)) < 400 and len(forms.as_github(long)) < 400


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


def event(name: str, **fields) -> bytes:
    return json.dumps(EVENT | {"event": name} | fields).encode() + b"\n"


def test_each_file_of_a_folder(tmp_path, monkeypatch):
    """Folders behind links are read, as by a build; pipes, which would block, and devices are never opened."""
    monkeypatch.chdir(tmp_path)
    for name, events in (("logs", [event("own")]), ("real", [event(f"e{n}", arrival=n) for n in range(3)])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.jsonl").write_bytes(b"".join(events))
    (tmp_path / "logs" / "link").symlink_to("../real")
    (tmp_path / "real" / "back").symlink_to("../logs")
    assert lint("logs").stderr == "logs: 2 files\n4 lines: no finding\n"
    os.mkfifo(tmp_path / "logs" / "p.jsonl")
    for name, target in (("gone.xz", "nowhere"), ("z.jsonl.gz", "/dev/zero")):
        (tmp_path / "logs" / name).symlink_to(target)
    found = [line.split(": ")[:2] for line in lint("logs").stdout.splitlines()]
    faults = {"gone.xz": "dangling_link", "p.jsonl": "not_a_file", "z.jsonl.gz": "not_a_file"}
    assert found == [[f"logs/{name}:1", fault] for name, fault in faults.items()]


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
