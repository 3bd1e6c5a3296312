"""Files of this machine, found like Spark's readers find them."""

import os
from types import SimpleNamespace

import pytest

from dbt_spark_python.adapter import SparkPythonAdapter
from dbt_spark_python.fences.hadoop import Hadoop
from dbt_spark_python.input_files import find_files, uri
from dbt_spark_python.session import connection, found_input
from dbt_spark_python.session.found_input import reads_this_disk

NAMES = ("aa.jsonl", "ab.jsonl", "b.jsonl", "c[1].jsonl", "_a.jsonl", ".b.jsonl")


@pytest.fixture
def folder(tmp_path):
    """Some files, including hidden ones."""
    for name in (*NAMES, "_below/x.jsonl", ".below/x.jsonl", "below/d.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"12\n" if name.endswith("d.jsonl") else b"1\n")
    return tmp_path


GLOBS = {
    "a*.jsonl": "aa.jsonl ab.jsonl",
    "a[ab].jsonl": "aa.jsonl ab.jsonl",
    "a[!a].jsonl": "ab.jsonl",
    "a[^b].jsonl": "aa.jsonl",
    "{aa,b}.jsonl": "aa.jsonl b.jsonl",
    "{a{a,b},below/d}.jsonl": "aa.jsonl ab.jsonl d.jsonl",
    "c\\[1\\].jsonl": "c[1].jsonl",
    "c[1].jsonl": "c[1].jsonl",
    "*/d*": "d.jsonl",
    "?.jsonl": "b.jsonl",
    "*": "aa.jsonl ab.jsonl b.jsonl c[1].jsonl d.jsonl x.jsonl x.jsonl",
    "": "aa.jsonl ab.jsonl b.jsonl c[1].jsonl d.jsonl",
}


@pytest.mark.parametrize(
    ("default", "expected"),
    [("file:///", True), ("hdfs://namenode:8020", False), ("s3a://bucket", False), (None, True)],
)
def test_spark_reads_this_disk_if_its_default_file_system_is_local(default, expected, monkeypatch):
    monkeypatch.setattr(found_input, "is_connect", lambda session: False)
    hadoop = Hadoop(None, SimpleNamespace(get=lambda name, other: default or other))
    monkeypatch.setattr(found_input, "find_hadoop", lambda session: hadoop)
    session = object()
    assert reads_this_disk(session) is reads_this_disk(session, "a:b/c") is expected
    assert reads_this_disk(session, "file:/a") and not reads_this_disk(session, "s3a://bucket/a")


def test_a_server_may_read_another_disk(monkeypatch):
    assert not reads_this_disk(None)
    monkeypatch.setattr(found_input, "is_connect", lambda session: True)
    for is_sail in (True, False):  # Sail runs in this process
        monkeypatch.setattr(found_input.sail, "is_sail", lambda session, is_sail=is_sail: is_sail)
        assert reads_this_disk(object()) is is_sail


@pytest.mark.parametrize("pattern", GLOBS)
def test_files_at_a_path(pattern, folder):
    """A literal name comes first, then a glob; folders are read recursively without hidden files."""
    found = find_files(f"{folder}/{pattern}", "some_log").files
    assert sorted(path.rpartition("/")[2] for path, _ in found) == GLOBS[pattern].split()
    assert all(size == (3 if path.endswith("d.jsonl") else 2) for path, size in found)


@pytest.mark.parametrize(
    ("path", "cause"),
    [
        ("{}/_a.jsonl", "hidden"),
        ("{}/no.jsonl", "does not exist"),
        ("{}/no*", "does not exist"),
        ("{}/{{a,b", "does not exist"),  # a brace that is not closed
        ("s3a://bucket/log", "on another machine.*use Spark"),
    ],
)
def test_no_file(path, cause, folder):
    with pytest.raises(ValueError, match=f"some_log: .*{cause}"):
        find_files(path.format(folder), "some_log")


def test_links(folder):
    beside = folder.parent / f"{folder.name}_beside"
    beside.mkdir()
    (beside / "e.jsonl").write_bytes(b"1\n")
    (folder / "a link").symlink_to(beside)
    (folder / "below" / "up").symlink_to(folder)
    (beside / "itself").symlink_to(".")
    (beside / "round").symlink_to("around")
    (beside / "around").symlink_to("round")
    (folder / "gone.jsonl").symlink_to("nowhere")
    found = find_files(str(folder), "some_log")
    files = [file for file, _ in found.files]
    assert len(files) == 6 and str(folder / "a link" / "e.jsonl") in files
    assert found.dangling == [str(folder / name) for name in ("a link/around", "a link/round", "gone.jsonl")]
    assert found.places == files
    with pytest.raises(ValueError, match=r"dangling links .*; restore their targets"):
        find_files(f"{folder}/g*", "some_log")


def test_places_of_a_file(folder):
    """A file has the name without links; an engine would read it once for each of several places that overlap."""
    (folder / "a").symlink_to(folder / "below")
    names = [file for file, _ in find_files(str(folder), "some_log").files]
    assert str(folder / "below" / "d.jsonl") in names and len(names) == 5
    found = find_files(f"{folder}/{{below,below/d.jsonl}}", "some_log")
    assert found.places == [str(folder / "below" / "d.jsonl")]


def test_pipes_and_devices_are_not_files(folder):
    """They are reported and never opened, and an engine is given the other files."""
    plain = find_files(str(folder), "some_log")
    assert plain.places == [str(folder)] and plain.irregular == []
    os.mkfifo(folder / "below" / "p.jsonl")
    (folder / "z.jsonl").symlink_to("/dev/zero")
    found = find_files(str(folder), "some_log")
    assert found.files == plain.files
    assert found.irregular == [str(folder / "below" / "p.jsonl"), str(folder / "z.jsonl")]
    assert found.places == [file for file, _ in found.files]
    with pytest.raises(ValueError, match=r"some_log: pipes, sockets and devices are no files: .*z.jsonl"):
        find_files(f"{folder}/z*", "some_log")


def test_uris():
    """As `java.net.URI` writes paths."""
    assert uri("/a b/%20#?é😀+:&.x") == "file:/a%20b/%2520%23%3Fé😀+:&.x"


def test_an_input_is_measured(folder, monkeypatch):
    """The adapter counts files and their bytes; it returns None if a path leads to no file."""
    monkeypatch.setattr(connection, "python_session", lambda credentials: None)
    monkeypatch.setattr(found_input, "reads_this_disk", lambda *_: True)
    adapter = SimpleNamespace(config=SimpleNamespace(credentials=None))
    assert SparkPythonAdapter.measure_input(adapter, str(folder), "log") == {"files": 5, "bytes": 11}
    assert SparkPythonAdapter.measure_input(adapter, str(folder / "absent"), "log") is None
