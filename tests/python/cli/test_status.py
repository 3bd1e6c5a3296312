"""`tangles status`: runs, counts by verdict, and problems."""

import json
import re

import pyarrow.parquet as pq
import pytest

import cli_story as story
from cli_kit import assert_harmless
from cli_story import run


@pytest.fixture
def warehouse(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return story.write(tmp_path / "wh")


def test_runs_and_their_logs(warehouse):
    log = {"var": "ssb_log", "path": "/logs/*.jsonl", "files": 2, "bytes": 1000, "lines": 5}
    warehouse.write("runs", run("old", 1), run("new", 2, inputs=[log], tables=["tangles.feeds"]))
    answer = warehouse.json("status")
    assert [row["run_id"] for row in answer["runs"]] == ["new", "old"]
    assert answer["runs"][0] == {
        "run_id": "new",
        "status": "success",
        "is_full": True,
        "project_version": "1",
        "tables": 1,
        "started_at": "2026-01-01 02:00:00",
        "finished_at": "2026-01-01 02:01:00",
        "seconds": 60.0,
        "inputs": [log],
        "vars": {"edit_batch_size": 1},
    }
    text = warehouse.ask("status").stdout
    assert "last run, of 2026-01-01 02:00:00 UTC: success, took 60.0 s; it wrote 1 of the tables\n" in text
    same = {"tables": ["tangles.feeds", "tangles.tangles"], "changed_tables": ["tangles.tangles"]}
    warehouse.write("runs", run("new", 2, inputs=[log], **same))
    assert "success, took 60.0 s; it wrote 1 of the tables" in warehouse.ask("status").stdout
    warehouse.write(
        "runs", run("old", 1, changed_tables=same["tables"]), run("new", 2, **same | {"changed_tables": []})
    )
    found, said = warehouse.json("status"), warehouse.ask("status").stdout
    assert [each["tables"] for each in found["runs"]] == [0, 2]
    assert "last run, of 2026-01-01 02:00:00 UTC: success, took 60.0 s; it found all tables unchanged\n" in said
    assert "earlier run, of 2026-01-01 01:00:00 UTC: success, took 60.0 s; it wrote 2 of the tables, which " in said
    assert not any("come from" in item["words"] for item in found["look_at"])
    assert "ssb_log /logs/*.jsonl: 2 files, 1,000 bytes, 5 lines" in text and "01:00:00" not in text


def test_long_paths_are_shortened_to_their_unique_ends(warehouse):
    """JSON has the whole paths; a short path leads `why` to the line."""
    folder = "file:/home/ann/" + "archive/" * 20
    log = {"var": "ssb_log", "path": f"{folder}*.jsonl", "files": 3, "bytes": 1, "lines": 1}
    warehouse.write("runs", run("one", 1, inputs=[log], tables=["tangles.feeds"]))
    places = [("a/log.jsonl", "bad_type"), ("b/log.jsonl", "bad_order"), ("other.jsonl", "too_long")]
    warehouse.fill("ssb_rejects", "source_file reason", *((folder + name, reason) for name, reason in places), line=7)
    text = warehouse.ask("status").stdout
    for name, _ in places:
        assert f"why {name}:7 " in text and f"{folder}{name}:7" in json.dumps(warehouse.json("status"))
        answer = warehouse.ask("why", f"{name}:7").stdout
        assert f"ssb log, {name}:7\n" in answer and folder not in answer
        assert warehouse.json("why", f"{name}:7")["lines"][0]["source_file"] == folder + name
    assert folder not in text and "ssb_log …/archive/archive/" in text


def test_rejected_lines_have_a_heading_of_their_own(warehouse):
    warehouse.write("ssb_rejects", {"source_file": "/log", "line": 1, "reason": "bad_type"})
    lines = warehouse.ask("status").stdout.splitlines()
    at = lines.index("rejected:")
    assert "1 rejected line of the SSB log: bad_type 1" in lines[at + 1]
    assert not any("rejected" in line for line in lines[1:at])


def test_times_as_spark_writes_them(warehouse):
    warehouse.write("runs", run("one", 1))
    (file,) = (warehouse.folder / "runs").iterdir()
    pq.write_table(pq.read_table(file), file, use_deprecated_int96_timestamps=True)
    answer = warehouse.json("status")["runs"][0]
    assert (answer["started_at"], answer["seconds"]) == ("2026-01-01 01:00:00", 60.0)


@pytest.mark.parametrize(
    ("status", "said"),
    [("running", "a build is running"), ("error", "ended with error"), ("interrupted", "interrupted")],
)
def test_a_run_that_is_no_success(warehouse, status, said):
    warehouse.write("runs", run("one", 1, tables=["tangles.feeds"]), run("two", 2, status, tables=["tangles.tangles"]))
    with warehouse.locked():
        words = [item["words"] for item in warehouse.json("status")["look_at"]]
        assert said in words[0] and "come from 2 runs" in words[1]
        assert warehouse.ask("status").exit_code == (status != "running")


@pytest.mark.parametrize(("earlier", "code"), [(["error"], 1), (["error", "success"], 0), (["success"], 0)])
def test_the_last_run_that_ended_decides(warehouse, earlier, code):
    """A running build changes nothing. Without the lock of a build it was killed, and fails command and gate."""
    warehouse.write("runs", *(run(str(n), n, status) for n, status in enumerate([*earlier, "running"])))
    asked = ("status",), ("status", "--fail-on", "failed_run")
    with warehouse.locked():
        assert [warehouse.ask(*words).exit_code for words in asked] == [code, code]
    assert warehouse.json("status")["runs"][0]["status"] == "interrupted"
    assert [warehouse.ask(*words).exit_code for words in asked] == [1, 1]


def write_results(target, run_id: str, *nodes: tuple[str, str] | tuple[str, str, str | None]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    columns = ("unique_id", "status", "message")
    rows = [{"failures": 1, **dict(zip(columns, node, strict=False))} for node in nodes]
    meta = {"invocation_id": run_id, "generated_at": "2026-01-01T01:00:30.000Z"}
    (target / "run_results.json").write_text(json.dumps({"metadata": meta, "results": rows}))


def test_results_of_tests(warehouse, tmp_path):
    """Tests of the project that installs this one are left to dbt."""
    assert warehouse.json("status")["tests"] is None
    target, good = tmp_path / "target", ("test.tangles.good.abc", "pass")
    others = ("test.tangles.bad.1", "fail"), ("test.tangles.odd", "warn"), ("model.tangles.feeds", "error")
    others += ("unit_test.tangles.sets.what", "fail"), ("test.forum.theirs.1", "fail")
    write_results(target, "one", good, *others)
    warehouse.write("runs", run("one", 1))
    tests = warehouse.json("status")["tests"]
    assert tests["counts"] == {"pass": 1, "fail": 2, "warn": 1} and tests["is_of_these_tables"]
    assert [row["name"] for row in tests["failed"]] == ["bad", "odd", "sets.what"]
    text = warehouse.ask("status").stdout
    assert "fail bad, 1 row" in text and "test bad: fail" in text
    assert "another run" not in text and "theirs" not in text
    write_results(target, "other", good)
    text = warehouse.ask("status", "--target-path", str(target)).stdout
    assert "they tested another run, not these tables" in text


def test_a_failed_run_names_its_failed_nodes(warehouse, tmp_path):
    """Models come before tests, with their errors; for results of another run the answer names --target-path."""
    warehouse.write("runs", run("one", 1, "error"))
    error = "Runtime Error in model feeds (models/feeds.sql)\n  no column \x1b[31mx\n  at line 2"
    write_results(
        tmp_path / "target",
        "one",
        ("test.tangles.unique_x.0a1b", "fail", "Got 2 results"),
        ("model.tangles.feeds", "error", error),
        ("model.tangles.tangles", "error", "no memory"),
        ("seed.tangles.names", "error", None),
        ("model.tangles.after", "skipped", None),
        ("model.tangles.good", "success", "OK"),
        ("model.forum.largest", "error", "of the project that installs the package"),
    )
    result = warehouse.ask("status")
    assert "error model feeds: no column \\x1b[31mx\n" in result.stdout
    assert "error model tangles: no memory\n" in result.stdout and "1 step was skipped" in result.stdout
    words = warehouse.json("status")["look_at"][0]["words"]
    assert words == "the last run ended with error: model feeds, model tangles, seed names and 1 more"
    assert_harmless(result)
    warehouse.write("runs", run("one", 1), run("two", 2, "error"))
    answer = warehouse.ask("status").stdout
    assert "model feeds" not in answer and "--target-path DIR" in answer and "test unique_x" not in answer


def test_the_tests_of_tangles_build_are_found(warehouse, tmp_path, monkeypatch):
    """Without --target-path, results in the warehouse count, too: those of the latest run, in any folder."""
    own = warehouse.root / ".tangles" / "target"
    warehouse.write("runs", run("old", 1), run("new", 2))
    write_results(own, "new", ("test.tangles.good.1", "pass"), ("test.tangles.bad.1", "fail"))
    write_results(tmp_path / "target", "old", ("test.tangles.older.1", "fail"))
    (tmp_path / "elsewhere").mkdir()
    for folder in (tmp_path, tmp_path / "elsewhere"):
        monkeypatch.chdir(folder)
        answer = warehouse.json("status")
        assert answer["tests"]["counts"] == {"pass": 1, "fail": 1} and answer["tests"]["is_of_these_tables"]
        assert "test bad: fail" in [item["words"] for item in answer["look_at"]]
    given = warehouse.json("status", "--target-path", str(tmp_path / "target"))
    assert [test["name"] for test in given["tests"]["failed"]] == ["older"]
    assert "test older: fail" not in [item["words"] for item in given["look_at"]]


def test_no_rows_of_zero_for_a_log_that_is_not_there(tmp_path):
    """A count of 0 is shown for a log that exists, and left out for an absent one."""
    empty = ["pzp_messages", "pzp_rejects", "sets", "set_messages", "autobase_bases", "autobase_nodes"]
    empty += ["autobase_rejects", "timeline_rejects", "group_messages", "group_findings", "ssb_rejects"]
    warehouse = story.write(tmp_path / "wh").write("timeline_stats", {"timeline_id": "ssb:log", "edit_count": 0})
    for table in [*empty, "timeline_events"]:
        warehouse.write(table)
    told = re.findall(r"^ +([0-9,]+) (.+?)(?:: .*)?$", warehouse.ask("status").stdout, re.MULTILINE)
    assert told == [
        ("6", "messages of SSB"),
        ("2", "feeds"),
        ("5", "messages in their feeds"),
        ("1", "tangle"),
        ("5", "messages in tangles"),
        ("0", "writer faults in tangles"),
        ("1", "timeline"),
        ("0", "rejected lines of the SSB log"),
    ]
    warehouse.write("timeline_events", {"timeline_id": "t", "event_id": "e"})
    assert "0 rejected lines of the event log" in warehouse.ask("status").stdout
    warehouse.write("pzp_rejects", {"source_file": "p", "line": 1, "reason": "malformed"})
    text = warehouse.ask("status").stdout
    assert "0 pzp messages" in text and "1 rejected line of the pzp log: malformed 1" in text


@pytest.mark.parametrize("text", ["", "[]", '{"results": [1]}', '{"results": [{"unique_id": 1}]}', "\x00"])
def test_unreadable_results_are_ignored(warehouse, tmp_path, text):
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "run_results.json").write_text(text)
    result = warehouse.ask("status")
    assert result.exit_code == 2 and "cannot be read as dbt's results" in result.stderr
