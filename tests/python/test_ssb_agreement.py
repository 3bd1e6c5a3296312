"""Whole builds of signed logs, compared with the JS peers' answers for each message, feed and tangle."""

import json

import pytest

import scripts
from conftest import DATA
from log_files import read_cases, selection_of

notebook = scripts.load("docs/run_notebook.py")

pytestmark = pytest.mark.both

INVALID_CLAIMS = {"malformed_tangle", "wrong_type"}
#: The tables that these tests and the notebook read, of the larger log.
READ = ["ssb_rejects", "feeds", "feed_messages", "tangle_ancestors", "tangle_edges", "timeline_edits"]


def expectations(log: str, kind: str) -> list[dict]:
    """The peers' answers: one JSON object a line, in gzip or plain."""
    (path,) = (DATA / "ssb").glob(f"{log}.expect_{kind}.jsonl*")
    return read_cases(f"ssb/{path.name}")


@pytest.fixture(scope="module", params=["small", pytest.param("medium", marks=pytest.mark.long)])
def built(request, project):
    if request.param == "small":
        return "small", request.getfixturevalue("small")
    log = str(DATA / "ssb" / "medium.jsonl.gz")
    medium = project("medium", ssb_log=log, log_timeline="full", ancestor_limit=1000)  # as in `make notebook`
    return "medium", medium.run("--select", *selection_of(*READ, "messages", "tangles", "timeline_events"))


def test_messages(built):
    log, tables = built
    usable = {row["message_id"]: row for row in tables.rows("ssb_messages", ["message_id", "is_usable", "line_count"])}
    rejected = {row["line"] for row in tables.rows("ssb_rejects", ["line"])}
    expected = expectations(log, "messages")
    wrong = []
    for line in expected:
        is_usable = bool(line.get("ooo"))
        if is_usable == (line["line"] in rejected):
            wrong.append((line["line"], "line"))
        if line.get("id") and (line["id"] not in usable or (is_usable and not usable[line["id"]]["is_usable"])):
            wrong.append((line["line"], "id"))
    assert not wrong, wrong[:10]
    assert set(usable) == {line["id"] for line in expected if line.get("id")}
    assert sum(row["line_count"] for row in usable.values() if row["is_usable"]) + len(rejected) == len(expected)


def test_feeds(built):
    log, tables = built
    feeds = {row["author"]: row for row in tables.rows("feeds")}
    wrong = []
    for feed in expectations(log, "feeds"):
        ours = feeds.pop(feed["author"], None)
        if feed["messages"] == 0 and ours is None:
            continue
        said = ours and (ours["message_count"], ours["max_sequence"], ours["verified_length"], ours["fork_sequence"])
        if said != (feed["messages"], feed["max_seq"], feed["chain_strict"], feed["fork_at"]):
            wrong.append((feed, said))
    assert not wrong, wrong[:5]
    assert not feeds


def test_chain(built):
    log, tables = built
    in_chain = {row["message_id"]: row["in_chain"] for row in tables.rows("feed_messages")}
    wrong = [
        line["line"]
        for line in expectations(log, "messages")
        if line.get("ooo") and in_chain[line["id"]] != (line["chain"] == "strict")
    ]
    assert not wrong, wrong[:10]


def test_tangles(built):
    log, tables = built
    rows = [row for row in tables.rows("tangles") if row["tangle_name"] != "ssb:feed"]
    tangles = {(row["tangle_name"], row["root_id"]): row for row in rows}
    members, aside = {}, {}
    for row in tables.rows("tangle_messages", ["tangle_name", "root_id", "message_id", "set_aside_reason"]):
        key, reason = (row["tangle_name"], row["root_id"]), row["set_aside_reason"]
        if reason is None:
            members.setdefault(key, set()).add(row["message_id"])
        elif reason not in INVALID_CLAIMS:
            aside.setdefault(key, set()).add(row["message_id"])
    wrong = []
    for tangle in expectations(log, "tangles"):
        name = {"old": "ssb:legacy_thread"}.get(tangle["tangle"], tangle["tangle"])
        key = name, tangle["root"]
        ours = tangles.pop(key, None)
        said = ours and (ours["member_count"], ours["depth"], ours["tips"], ours["set_aside_count"])
        if said != (tangle["size"], tangle["depth"], sorted(tangle["tips"]), len(tangle["aside"])):
            wrong.append((tangle, said))
        elif aside.get(key, set()) != set(tangle["aside"]):
            wrong.append((tangle, aside.get(key)))
        elif tangle.get("members") is not None and members.get(key, set()) != set(tangle["members"]):
            wrong.append((tangle, members.get(key)))
        elif (ours["root_status"] == "present") != tangle["root_ok"]:
            wrong.append((tangle, ours["root_status"]))
    assert not wrong, (len(wrong), wrong[:3])
    assert not tangles, list(tangles.items())[:3]


def test_the_notebook_keeps_its_answers(built, monkeypatch):
    """The stored outputs belong to this log: a new run gives the same text; pictures depend on fonts."""
    log, tables = built
    if log != "medium":
        return
    monkeypatch.setenv("TANGLES_WAREHOUSE", str(tables.warehouse))
    monkeypatch.setenv("TANGLES_SCHEMA", tables.schema)
    again = json.loads(notebook.NOTEBOOK.read_text())
    kept = notebook.texts(again)
    notebook.execute(again)
    assert notebook.texts(again) == kept
