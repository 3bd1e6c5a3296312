"""Real histories as event logs, and long streams, both in small: their lines and the figures."""

import json
import os
import subprocess

import numpy as np
import pytest

import timeline_oracle as oracle
from bench import __main__ as command
from bench import evaluation_cases, histories, history, history_readers, streams

#: By name: the parents, the commit time and the author. `late` has an earlier time than its parent.
COMMITS = {
    "root": ([], 100, "ann"),
    "left": (["root"], 200, "ann"),
    "right": (["root"], 150, "B ☃ \"|' b"),
    "third": (["root"], 160, "bob"),
    "merge": (["left", "right", "third"], 300, "ann"),
    "late": (["merge"], 120, "bob"),
}


def git(folder, *arguments: str, **variables: str) -> str:
    """Run git without the settings of this machine; return its output."""
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(folder)}
    variables = {**os.environ, **settings, **variables}
    done = subprocess.run(["git", "-C", str(folder), *arguments], env=variables, capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Make a repository of `COMMITS`; return its folder, and the ids by name."""
    folder, ids = tmp_path_factory.mktemp("history"), {}
    git(folder, "init", "--quiet")
    tree = git(folder, "write-tree")
    for name, (parents, time, author) in COMMITS.items():
        people = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", author), ("EMAIL", "x@example.org"), ("DATE", f"@{time} +0000"))
        }
        listed = [part for parent in parents for part in ("-p", ids[parent])]
        ids[name] = git(folder, "commit-tree", tree, *listed, "-m", name, **people)
    git(folder, "update-ref", "HEAD", ids["late"])
    return folder, ids


def test_commits_are_read(repository):
    folder, ids = repository
    commits = {commit.id: commit for commit in history_readers.read_commits(folder)}
    assert commits == {
        ids[name]: history_readers.Event(ids[name], [ids[parent] for parent in parents], time, author)
        for name, (parents, time, author) in COMMITS.items()
    }


@pytest.mark.parametrize("log", ["ISO-8859-1", "UTF-16", "none"])
@pytest.mark.parametrize("commit", ["ISO-8859-1", "UTF-8"])
def test_names_are_utf_8(tmp_path, log, commit):
    """The encodings of commits and of git's output change no name."""
    git(tmp_path, "init", "--quiet")
    for setting, value in (("i18n.logOutputEncoding", log), ("i18n.commitEncoding", commit)):
        git(tmp_path, "config", setting, value)
    tree, commits = git(tmp_path, "write-tree"), []
    for name in ("Zoë Müller".encode(commit), b"\xff\xfe"):
        people = {b"GIT_AUTHOR_NAME": name, b"GIT_COMMITTER_NAME": b"x"}
        people |= {b"GIT_AUTHOR_EMAIL": b"x", b"GIT_COMMITTER_EMAIL": b"x"}
        listed = [part for each in commits for part in ("-p", each)]
        made = ["git", "-C", tmp_path, "commit-tree", tree, *listed, "-m", "é"]
        commits = [
            subprocess.run(made, env=os.environb | people, capture_output=True, check=True).stdout.decode().strip()
        ]
    git(tmp_path, "update-ref", "HEAD", *commits)
    first, second = history_readers.read_commits(tmp_path)
    assert first.author == "Zoë Müller" and len(second.author) == 2
    (line, _) = history.json_lines([first, second], np.arange(2), "git")
    assert json.loads(line)["author"] == "Zoë Müller"


def test_orders_of_arrival(repository):
    folder, ids = repository
    commits = history_readers.read_commits(folder)
    names = {id_: name for name, id_ in ids.items()}
    orders = {}
    for arrival in history.ARRIVALS:
        orders[arrival] = [names[commits[i].id] for i in history.arrive(commits, arrival)]
    assert orders["time"] == ["root", "late", "right", "third", "left", "merge"]
    place = {name: number for number, name in enumerate(orders["topological"])}
    assert all(place[parent] < place[name] for name, (parents, *_) in COMMITS.items() for parent in parents)
    assert sorted(orders["shuffled"]) == sorted(COMMITS)


def test_a_history_becomes_an_event_log(repository, tmp_path):
    """Each line is an event; the kernels take the same events and causes."""
    folder, ids = repository
    history.main(["git", str(folder), "--out", str(tmp_path / "log.jsonl"), "--timeline", "t"])
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    order = ["root", "late", "right", "third", "left", "merge"]
    assert lines == [
        {
            "timeline": "t",
            "event": ids[name],
            "after": [ids[parent] for parent in COMMITS[name][0]],
            "author": COMMITS[name][2],
            "arrival": arrival,
        }
        for arrival, name in enumerate(order, start=1)
    ]
    commits = history_readers.read_commits(folder)
    made = history.timelines_of(commits, history.arrive(commits, "time"))
    by_number = sorted(ids.values())
    assert [by_number[event] for event in made.arrived] == [ids[name] for name in order]
    links = {
        by_number[event]: [by_number[c] for c in made.cause[made.cause_start[event] : made.cause_start[event + 1]]]
        for event in range(len(by_number))
    }
    assert links == {line["event"]: line["after"] for line in lines}
    assert history.count_shape(made.cause_start, made.cause) == (1, 1, 1, 1)


def test_no_history(tmp_path, capsys):
    with pytest.raises(SystemExit):
        history.main(["git", str(tmp_path / "nowhere"), "--out", str(tmp_path / "log.jsonl")])
    assert "Name the folder of a repository" in capsys.readouterr().err
    assert not (tmp_path / "log.jsonl").exists()


def test_the_work_on_a_history(repository):
    """Commands by the oracle, of all parents; the third parent of the merge is left out of the fixed slots."""
    folder, _ = repository
    rows = {row["arrival"]: row for row in histories.measure_history(f"git:tiny={folder}", 1)}
    commits = history_readers.read_commits(folder)
    for arrival, row in rows.items():
        assert (row["events"], row["authors"], row["depth"], row["left_out"]) == (6, 3, 4, 1)
        arrived = [commits[i] for i in history.arrive(commits, arrival)]
        wanted, before = [], []
        for count in range(1, len(arrived) + 1):
            order = oracle.converged({commit.id: set(commit.causes) for commit in arrived[:count]})
            wanted.append(oracle.fewest_commands(before, order))
            before = order
        assert row["commands_per_event"] == pytest.approx(np.mean(wanted), abs=1e-3)
        assert row["commands_max"] == max(wanted) and row["moved_max"] >= max(wanted) - 1
    in_order = rows["topological"]
    assert [in_order[name] for name in ("visited", "raised", "moved", "commands_per_event")] == [1, 0, 0, 1]
    assert rows["time"]["raised"] > 0


@pytest.mark.parametrize("named", [[], ["--histories", "tiny=."], ["--histories", "svn:tiny=."]])
def test_histories_need_a_history(named):
    with pytest.raises(ValueError, match="KIND:NAME=PATH"):
        histories.run(command.parse(["--scale", "0.001", *named, "--", "histories"]))


def test_histories_of_several_kinds(repository, tmp_path):
    (tmp_path / "room.jsonl").write_text(ROOM)
    named = [f"git:tiny={repository[0]}", f"matrix:tiny={tmp_path / 'room.jsonl'}"]
    results, [goal] = histories.run(command.parse(["--histories", *named, "--", "histories"]))
    assert {row["history"] for row in results} == {"git: tiny", "matrix: tiny", "made, 16 feeds"} and goal.met


#: A room, newest event first: the second names an event that the file lacks, the last writes links as old rooms do.
ROOM = """\
{"event_id": "$d", "prev_events": ["$b", "$c"], "origin_server_ts": 30, "sender": "@ann:x"}
{"event_id": "$c", "prev_events": ["$gone"], "origin_server_ts": 40, "sender": "@bob:x"}
{"event_id": "$b", "prev_events": [["$a", {"sha256": "…"}]], "origin_server_ts": 20, "sender": "@bob:x"}
{"event_id": "$a", "prev_events": [], "origin_server_ts": 10, "sender": "@ann:x"}
"""


def test_a_room_is_read(tmp_path):
    (tmp_path / "room.jsonl").write_text(ROOM)
    events = history_readers.read_room(tmp_path / "room.jsonl")
    assert events[-1].id == "$d" and events.index(("$a", [], 10, "@ann:x")) < events.index(("$b", ["$a"], 20, "@bob:x"))
    assert sorted(events) == [
        ("$a", [], 10, "@ann:x"),
        ("$b", ["$a"], 20, "@bob:x"),
        ("$c", ["$gone"], 40, "@bob:x"),
        ("$d", ["$b", "$c"], 30, "@ann:x"),
    ]
    made = history.timelines_of(events, history.arrive(events, "time"))
    assert made.arrived.tolist() == [0, 1, 3, 2] and made.cause.tolist() == [0, 1, 2]


def test_a_channel_is_read(tmp_path):
    """Links name lines in both orders; a link of a line with itself opens a conversation; notices have no author."""
    (tmp_path / "b.ascii.txt").write_text("[01:00] <cid> hi\n[01:01] * dan waves\n")
    (tmp_path / "b.annotation.txt").write_text("0 1 -\n")
    (tmp_path / "a.ascii.txt").write_text("=== ann joined\n[00:01] <ann> hi\n[00:02] <bob> no\n[00:03] <ann> so\n")
    (tmp_path / "a.annotation.txt").write_text("0 0 -\n1 1 -\n3 1 -\n2 3 -\n")
    events = history_readers.read_channel(tmp_path)
    assert {event.id: (event.causes, event.author) for event in events} == {
        "a:0": ([], ""),
        "a:1": ([], "ann"),
        "a:2": ([], "bob"),
        "a:3": (["a:1", "a:2"], "ann"),
        "b:0": ([], "cid"),
        "b:1": (["b:0"], "dan"),
    }
    assert [events[i].id for i in history.arrive(events, "time")] == ["a:0", "a:1", "a:2", "a:3", "b:0", "b:1"]


@pytest.mark.parametrize(
    ("kind", "files", "said"),
    [
        ("matrix", {"x": '{"event_id": "$a"}\n'}, r"x:1: not an event of a room"),
        ("matrix", {"x": "[1]\n"}, r"x:1: not an event of a room"),
        ("matrix", {"x": ROOM.replace('["$gone"]', '["$d"]')}, "causes of each other"),
        ("irc", {}, r"no file \*\.annotation"),
        ("irc", {"x.annotation.txt": "0 9 -\n", "x.ascii.txt": "one\n"}, "names line 9"),
    ],
)
def test_a_history_that_cannot_be_read(tmp_path, kind, files, said):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=said):
        history_readers.READERS[kind](tmp_path / "x" if kind == "matrix" else tmp_path)


def test_streams_are_measured(monkeypatch, tmp_path):
    """Both kernels see the same logs; the fixed one moves at least as many events as the shortest scripts."""
    monkeypatch.setattr(streams, "RESULTS", tmp_path)
    monkeypatch.setattr(streams, "apart", lambda function, *arguments: function(*arguments))
    results, goals = streams.run(command.parse(["streams", "--scale", "0.002"]))
    assert len(results) == 12 and all(goal.met is None for goal in goals)
    for fixed, full in zip(results[::2], results[1::2], strict=True):
        assert (fixed["kernel"], full["kernel"]) == ("fixed", "full") and fixed["events"] == full["events"]
        assert fixed["visited"] > fixed["raised"] >= fixed["moved"] >= full["moved"] > 0
    assert not list((tmp_path / "streams").iterdir())


def test_the_memory_of_a_process_is_read():
    before = streams.memory("VmRSS")
    kept = np.ones(50_000_000, np.int8)
    assert streams.memory("VmRSS") - before > 0.8 * kept.nbytes
    assert streams.memory("VmHWM") >= streams.memory("VmRSS")


def test_the_made_log_has_the_evaluations_commands():
    """The made log of `histories`, by feed, is a case of the evaluation in shape: its commands are near those."""
    rows = {row["arrival"]: row for row in histories.measure_made_log(0.03)}
    assert rows["topological"]["commands_per_event"] == 1
    case = evaluation_cases.count_case(evaluation_cases.Case(rows["random feed"]["events"], 16))
    assert rows["random feed"]["commands_per_event"] == pytest.approx(case["per_event"], rel=0.2)
    assert rows["shuffled"]["commands_per_event"] > rows["up to 256 late"]["commands_per_event"]
