"""`tangles send`: what a peer lacks, in an order it can apply, and what to ask it for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cli_story as story
from answer_schemas import validate
from cli_kit import Warehouse

AUTHORS = "@a", "@b", "@c"


def write_log(root, posts: list[tuple[str, list[str]]]) -> tuple[Warehouse, list[dict]]:
    """Write feeds from (author, linked ids) in order of publication; a message's id is its author and sequence."""
    warehouse, messages, lengths = Warehouse(root), [], {author: 0 for author, _ in posts}
    for author, links in posts:
        sequence = lengths[author] = lengths[author] + 1
        claim = {"tangle_name": "t", "root_id": links[0], "previous": links[1:], "is_root": False} if links else None
        before = f"%{author}{sequence - 1}" if sequence > 1 else None
        columns = {"previous_id": before, "tangle_claims": [claim] if claim else []}
        messages.append(story.message(f"%{author}{sequence}", author, sequence, **columns))
    warehouse.write("ssb_messages", *messages)
    places = [(m["message_id"], m["author"], m["sequence"]) for m in messages]
    warehouse.fill("feed_messages", "message_id author sequence", *places, in_chain=True)
    ends = {author: (n, f"%{author}{n}") for author, n in lengths.items() if n}
    warehouse.write("feeds", *(story.feed(author, *end) for author, end in ends.items()))
    warehouse.write("tangle_missing")
    return warehouse, messages


def send(warehouse: Warehouse, tmp_path, said, *words: str) -> list[dict]:
    """Run `tangles send --json` with a peer's statement; validate each line and drop its schema."""
    (tmp_path / "peer.json").write_text(json.dumps(said))
    result = warehouse.ask("send", "--to", str(tmp_path / "peer.json"), "--json", *words)
    assert result.exit_code == 0, result.output
    rows = [validate(json.loads(line)) for line in result.stdout.splitlines()]
    return [{name: row[name] for name in row if name != "schema"} for row in rows]


def ids(rows: list[dict]) -> list[str]:
    return [row["message_id"] for row in rows]


@pytest.fixture
def log(tmp_path) -> Warehouse:
    """@b answers @a1 and @c1 answers @b1; @a2 follows in its feed, @a3 joins both."""
    posts = [("@a", []), ("@b", ["%@a1"]), ("@c", ["%@a1", "%@b1"]), ("@a", []), ("@a", ["%@a1", "%@c1", "%@a2"])]
    return write_log(tmp_path / "wh", posts)[0]


ALL = ["%@a1", "%@a2", "%@b1", "%@c1", "%@a3"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, ALL),
        ([], ALL),
        ({"@a": 2, "@b": 1, "@unknown": 9}, ["%@c1", "%@a3"]),
        ({"@a": 3, "@b": 1, "@c": 1}, []),
        # The peer does not replicate a feed.
        ({"@a": -1, "@b": 0}, ["%@b1", "%@c1"]),
        ({"@a": -1, "@b": -1, "@c": -1, "@z": -1}, []),
        # Tips stand for all that they follow, and a named message ends its author's feed.
        (["%@c1"], ["%@a2", "%@a3"]),
        (["%@c1", "%@a2"], ["%@a3"]),
        ({"tips": ["%@a3"]}, []),
    ],
)
def test_a_clock(log, tmp_path, said, expected):
    rows = send(log, tmp_path, said)
    assert ids(rows) == expected
    assert all(row["message_id"] == f"%{row['author']}{row['sequence']}" for row in rows)


def at(author: str, first: int, last: int) -> dict:
    return {"author": author, "from_sequence": first, "to_sequence": last}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"@a": 5, "@b": 1, "@z": 2}, [at("@a", 4, 5), at("@z", 1, 2)]),
        ({"@a": -1, "@z": -1}, []),
        ({}, []),
        (["%new", "%@b1"], [{"message_id": "%new"}]),
    ],
)
def test_ranges_to_ask(log, tmp_path, said, expected):
    assert send(log, tmp_path, said, "--ask") == expected


def test_ids_that_are_unknown(log, tmp_path):
    (tmp_path / "peer.json").write_text('["%new", "%@b1"]')
    result = log.ask("send", "--to", str(tmp_path / "peer.json"))
    assert result.exit_code == 0 and "1 id is unknown here (%new)" in result.stderr
    assert result.stdout.splitlines() == ["%@a2 @a 2", "%@c1 @c 1", "%@a3 @a 3"]


FEED = "@BJxYxZO2IKj3+j3kqo1xz1VoII+JCO8CCka2dztT0NQ=.ed25519"
URI = "ssb:feed/ed25519/BJxYxZO2IKj3-j3kqo1xz1VoII-JCO8CCka2dztT0NQ="
OTHER = "ssb:feed/ed25519/SnedqDp0lJUjx-WFt5NMdV7nOX1xNyCRIvAoIPKdZd0="


@pytest.fixture
def of_feed(tmp_path) -> Warehouse:
    return write_log(tmp_path / "wh", [(FEED, [])] * 3)[0]


@pytest.mark.parametrize("key", [URI, URI.replace("ed25519", "classic"), URI.replace("ssb:", "ssb://")])
def test_keys_of_a_clock_may_be_uris(of_feed, tmp_path, key):
    assert ids(send(of_feed, tmp_path, {key: 2})) == [f"%{FEED}3"]
    assert send(of_feed, tmp_path, {key: 5}, "--ask") == [at(FEED, 4, 5)]


@pytest.mark.parametrize("key", ["foo", f" {FEED}", OTHER, "\ud800"])
@pytest.mark.parametrize("length", [-1, 3])
def test_keys_that_are_unknown(of_feed, tmp_path, key, length):
    """They are reported as unknown ids are; the peer gets all that the clock leaves open."""
    (tmp_path / "peer.json").write_text(json.dumps({key: length, FEED: 1}))
    result = of_feed.ask("send", "--to", str(tmp_path / "peer.json"))
    assert result.exit_code == 0 and result.stdout.count("\n") == 2
    shown = {"\ud800": "\\ud800", OTHER: "@SnedqDp0lJUjx+WFt5NMdV7nOX1xNyCRIvAoIPKdZd0=.ed25519"}.get(key, key)
    assert f"1 id is unknown here ({shown})" in result.stderr


def test_own_clock_is_a_statement_for_peers(log, tmp_path):
    answer = log.json("send", "--clock")
    assert answer == {"schema": "tangles/send/1", "clock": {"@a": 3, "@b": 1, "@c": 1}}
    assert send(log, tmp_path, answer) == [] == send(log, tmp_path, answer, "--ask")


def test_gaps_and_missing_messages(tmp_path):
    """Without a peer's statement, --ask lists the holes of feeds and the messages that tangles wait for."""
    warehouse = story.write(tmp_path / "wh")
    places = [(story.C1, 1, None, None), (story.C7, 4, story.C6, "after_gap")]
    story.write_feed(warehouse, story.CAROL, places, status="gap")
    rows = [json.loads(line) for line in warehouse.ask("send", "--ask", "--json").stdout.splitlines()]
    assert [{k: v for k, v in row.items() if k != "schema"} for row in rows] == [
        at(story.CAROL, 2, 3),
        {"message_id": story.GONE},
    ]


def test_messages_outside_of_chains_are_not_sent(tmp_path):
    warehouse = story.write_broken_feed(Warehouse(tmp_path / "wh"))
    assert ids(send(warehouse, tmp_path, {})) == [story.A1, story.C1]


def test_a_cycle_of_links_keeps_feeds_in_sequence(tmp_path):
    warehouse, _ = write_log(tmp_path / "wh", [("@a", ["%@b2"]), ("@a", []), ("@b", ["%@a2"]), ("@b", [])])
    assert ids(send(warehouse, tmp_path, {})) == ["%@a1", "%@a2", "%@b1", "%@b2"]


@given(st.data())
def test_any_replica_can_apply(tmp_path_factory, data):
    """Of random logs: a peer that has the beginnings of feeds gets exactly the rest, causes first."""
    posts, published = [], []
    lengths = dict.fromkeys(AUTHORS, 0)
    for author in data.draw(st.lists(st.sampled_from(AUTHORS), max_size=12)):
        links = data.draw(st.lists(st.sampled_from(published), max_size=3, unique=True)) if published else []
        posts.append((author, links))
        lengths[author] += 1
        published.append(f"%{author}{lengths[author]}")
    folder = tmp_path_factory.mktemp("log")
    warehouse, messages = write_log(folder / "wh", posts)
    clock = {author: data.draw(st.integers(0, length)) for author, length in lengths.items()}
    sent = ids(send(warehouse, folder, clock))
    held = {m["message_id"] for m in messages if m["sequence"] <= clock[m["author"]]}
    assert len(sent) == len(set(sent)) and held | {*sent} == {*published} and held.isdisjoint(sent)
    causes = {m["message_id"]: {m["previous_id"], *posts[n][1]} - {None} for n, m in enumerate(messages)}
    will_have = held | {*sent}
    for id_ in sent:
        assert causes[id_] & will_have <= held
        held.add(id_)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("1", "neither a clock nor a list"),
        ('{"@a": -2}', "not a whole number"),
        ('{"@a": true}', "not a whole number"),
        ('{"@a": 1e99}', "not a whole number"),
        ("[1]", "neither a clock nor a list"),
        (json.dumps({FEED: 1, URI: 2}), "has two lengths, as a sigil and as a URI; keep one"),
        (None, "/dev/zero: has more than 67,108,864 characters"),
    ],
)
@pytest.mark.parametrize("words", [[], ["--ask"]])
def test_statements_that_cannot_be_read(log, tmp_path, text, said, words):
    (tmp_path / "peer.json").write_text(text or "")
    result = log.ask("send", "--to", str(tmp_path / "peer.json") if text else "/dev/zero", *words)
    assert result.exit_code == 2 and said in result.stderr and result.stdout == ""


def test_wrong_use(log, tmp_path):
    assert {log.ask("send", *words).exit_code for words in ([], ["--clock", "--ask"])} == {2}
    result = Warehouse(tmp_path / "empty").write("feeds").ask("send", "--clock")
    assert result.exit_code == 2 and "feed_messages is not built" in result.stderr
