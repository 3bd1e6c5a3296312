"""`tangles watch`: the changes between two states of a warehouse, and the loop that builds."""

import json
import os
import shutil
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

import cli_story as story
from answer_schemas import validate
from cli_kit import HOSTILE, Warehouse, assert_harmless
from dbt_tangles.cli import watch, watch_changes
from dbt_tangles.cli.cli import main
from dbt_tangles.cli.tables import Tables
from dbt_tangles.cli.watch_changes import KINDS, SHOWN, find_changes


def state(root, **tables: list[dict]) -> Tables:
    """Write a warehouse with all tables that are compared, in place of an earlier one; those not given are empty."""
    shutil.rmtree(root / "tangles.db", ignore_errors=True)
    warehouse = Warehouse(root)
    for name in watch_changes.TABLES:
        warehouse.write(name, *tables.pop(name, []))
    assert not tables
    return Tables(root, "tangles")


def changes(tmp_path, before: dict[str, list[dict]], after: dict[str, list[dict]]) -> dict[str, dict]:
    found = find_changes(state(tmp_path / "before", **before), state(tmp_path / "after", **after))
    assert [change["kind"] for change in found] == [k.name for k in KINDS if k.name in {c["kind"] for c in found}]
    return {change["kind"]: change for change in found}


def candidate(message: str, root: str = "%r", reason: str | None = None) -> dict:
    return story.candidate(message, "@a", None if reason else 0, root_id=root, set_aside_reason=reason)


def versions(**of: int) -> list[dict]:
    return [{"group_key": f"%{root}", "version": version} for root, version in of.items()]


def test_members_of_changed_tangles(tmp_path):
    """A member arrives, two are unblocked, one is set aside; the tangle whose version stays is left alone."""
    before = [candidate("%r"), candidate("%late", reason="missing_previous"), candidate("%old"), candidate("%x", "%s")]
    after = [candidate("%r"), candidate("%late"), candidate("%new"), candidate("%old", reason="cycle")]
    found = changes(
        tmp_path,
        {"tangle_messages": before, "int_tangle_versions": versions(r=1, s=1)},
        {"tangle_messages": [*after, candidate("%y", "%s")], "int_tangle_versions": versions(r=2, s=1)},
    )
    assert {kind: change["shown"] for kind, change in found.items()} == {
        "members": ["thread:%r: %new"],
        "unblocked": ["thread:%r: %late"],
        "set_aside": ["thread:%r: %old: cycle"],
    }
    assert found["members"]["words"] == "1 new member of tangles"
    assert found["unblocked"]["words"] == "1 message was set aside before and is a member now"


def test_a_new_tangle(tmp_path):
    found = changes(tmp_path, {}, {"tangle_messages": [candidate("%r")], "int_tangle_versions": versions(r=1)})
    assert found["members"]["count"] == 1


def test_feeds_fork(tmp_path):
    feeds = [story.feed("@a", 3, "%a"), story.feed("@b", 3, "%b")]
    forked = [feeds[0] | {"fork_sequence": 2}, feeds[1]]
    found = changes(tmp_path, {"feeds": feeds}, {"feeds": forked})
    assert found["forks"]["words"] == "1 feed has forked" and found["forks"]["shown"] == ["@a at sequence 2"]
    assert changes(tmp_path / "again", {"feeds": forked}, {"feeds": forked}) == {}


def test_timelines_are_reordered(tmp_path):
    def update(op: str, event: str, publication: str = "q", before: str | None = "p") -> dict:
        place = {"from_position": 3 if op == "mov" else None, "to_position": 1, "event_id": event, "op": op, "step": 1}
        return {"timeline_id": "t", "publication": publication, "previous_publication": before} | place

    rows = [update("mov", "a"), update("ins", "b"), update("mov", "c")]
    before = {"timeline_stats": [{"timeline_id": "t", "publication": "p"}]}
    found = changes(tmp_path, before, {"timeline_updates": rows})
    assert found["reordered"]["words"] == "1 timeline has events in other places"
    assert found["reordered"]["shown"] == ["t: 2 moved"]
    still = {"timeline_stats": [{"timeline_id": "t", "publication": "q"}]}
    assert changes(tmp_path / "still", still, {"timeline_updates": rows}) == {}


def test_sets_bases_and_rejects(tmp_path):
    items = [{"set_id": "s", "item": item, "item_position": 0} for item in ("x", "y", "z")]
    bases = [{"base_id": "b", "confirmed_length": 2}, {"base_id": "same", "confirmed_length": 1}]
    rejects = [{"source_file": "f", "line": line, "reason": "bad_signature"} for line in range(3)]
    found = changes(
        tmp_path,
        {"set_items": items[:2], "autobase_bases": bases, "ssb_rejects": rejects[:1]},
        {
            "set_items": items[1:],
            "autobase_bases": [bases[0] | {"confirmed_length": 5}, bases[1]],
            "ssb_rejects": rejects,
        },
    )
    assert found["items"]["shown"] == ["s: x removed", "s: z added"]
    assert found["settled"]["shown"] == ["b: 2 to 5 nodes"]
    assert found["ssb_rejects"]["shown"] == ["bad_signature: 2 more"]


def test_long_lists_are_cut(tmp_path):
    rows = [{"message_id": f"%{n:03}", "author": "@a", "sequence": n, "in_chain": True} for n in range(SHOWN + 5)]
    members = [candidate(f"%{n:03}") for n in range(SHOWN + 5)]
    after = {"feed_messages": rows, "tangle_messages": members, "int_tangle_versions": versions(r=1)}
    found = changes(tmp_path, {}, after)
    assert found["messages"]["words"] == "15 new messages of SSB" and found["messages"]["shown"] == []
    assert (found["members"]["count"], len(found["members"]["shown"])) == (15, SHOWN)


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log.jsonl").write_text("1\n")
    return tmp_path / "log.jsonl"


def watch_log(monkeypatch, log, builds: list[dict], *words: str):
    """Run the command; each build writes the tables of one state, and then the log grows."""
    left, root = iter(builds), log.parent / "wh"

    def build(command, **_):
        assert command[4] == str(log) and command[command.index("--warehouse") + 1] == str(root)
        tables = next(left)
        code = tables.pop("code", 0)
        if code != 2:
            state(root, **tables)
            (root / "tangles.db" / "runs").mkdir()
        with log.open("a") as file:
            file.write("more\n")
        return SimpleNamespace(returncode=code)

    monkeypatch.setattr(watch.subprocess, "run", build)
    place = ["--every", "0.1", "--builds", str(len(builds)), "--warehouse", str(root)]
    return CliRunner().invoke(main, ["watch", str(log), *place, *words])


def member(message: str) -> dict:
    return {"tangle_messages": [candidate(message)], "int_tangle_versions": versions(r=1)}


def test_each_growth_is_built(monkeypatch, log):
    result = watch_log(monkeypatch, log, [{}, member("%r"), member("%r")], "--json")
    answers = [validate(json.loads(line)) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert answers[0]["changes"] is None and answers[2]["changes"] == []
    assert [change["kind"] for change in answers[1]["changes"]] == ["members"]


def test_words_are_harmless(monkeypatch, log):
    result = watch_log(monkeypatch, log, [{}, member(HOSTILE), {}])
    assert result.exit_code == 0
    assert_harmless(result)
    lines = result.stdout.splitlines()
    assert "  the first tables of this warehouse; later builds list their changes" in lines
    assert "  1 new member of tangles" in lines and lines[-1] == "  no verdict changed"


def test_a_failed_step_is_the_exit_code(monkeypatch, log):
    result = watch_log(monkeypatch, log, [{}, {"code": 1}])
    assert result.exit_code == 1 and "steps failed" in result.stdout


def test_a_build_that_does_not_begin_ends_the_watch(monkeypatch, log):
    result = watch_log(monkeypatch, log, [{}, {"code": 2}])
    assert result.exit_code == 2 and "the build did not begin" in result.stderr


def test_a_log_that_does_not_exist(tmp_path):
    result = CliRunner().invoke(main, ["watch", str(tmp_path / "none.jsonl"), "--warehouse", str(tmp_path / "wh")])
    assert result.exit_code == 2 and "none.jsonl" in result.stderr


def test_links_keep_the_rows_of_the_moment(tmp_path, monkeypatch):
    """On file systems without links, files are copied."""
    state(tmp_path / "wh", **member("%r"))
    for name, link in (("links", os.link), ("copies", lambda *_: (_ for _ in ()).throw(OSError()))):
        monkeypatch.setattr(os, "link", link)
        watch.link_tables(tmp_path / "wh" / "tangles.db", tmp_path / name / "tangles.db")
    state(tmp_path / "wh")
    for name in ("links", "copies"):
        assert len(Tables(tmp_path / name, "tangles").rows("select * from {tangle_messages}")) == 1
