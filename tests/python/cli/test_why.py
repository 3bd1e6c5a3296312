"""`tangles why` of messages: verdicts, causes, and ids that are not in the log."""

import pytest

import cli_story as story
from cli_kit import Warehouse
from cli_story import A1, A2, B1, B2, BAD, GONE


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    return story.write(tmp_path_factory.mktemp("ask") / "wh")


def test_concurrent_messages_are_counted(tmp_path):
    """Thread A to E, section 2: neither D follows C nor C follows D, and the order of both is a convention."""
    warehouse = story.write_diamond(tmp_path / "wh")
    a, b, c, d, _ = story.DIAMOND
    (tangle,) = warehouse.json("why", d)["tangles"]
    assert (tangle["concurrent_count"], tangle["tie_broken_with"]) == (1, c)
    texts = {id_: warehouse.ask("why", id_).stdout for id_ in (a, b, c, d)}
    assert ["concurrent with 1 member:" in text for text in texts.values()] == [False, False, True, True]
    assert ["by convention" in text for text in texts.values()] == [False, False, False, True]
    assert f"by convention (time, then id) and not by cause it stands behind {c}" in " ".join(texts[d].split())


def test_an_ambiguous_prefix_lists_the_ids(warehouse):
    result = warehouse.ask("why", "%a")
    assert result.exit_code == 2
    assert A1 in result.stderr and A2 in result.stderr and B1 not in result.stderr


def test_a_whole_id_is_never_ambiguous(tmp_path):
    names = ["x", *(f"x{n:02}" for n in range(40))]
    warehouse = story.write(tmp_path / "wh")
    warehouse.write("ssb_messages", *(story.message(name, story.ALICE, 1) for name in reversed(names)))
    assert warehouse.json("why", "x")["id"] == "x"
    several = warehouse.ask("why", "x0")
    assert several.exit_code == 2 and several.stderr.endswith("x09 (message)\n")


def test_an_unknown_id(warehouse):
    result = warehouse.ask("why", "%a1x")
    assert result.exit_code == 1
    assert "the log has no reference to it" in result.stdout and A1 in result.stdout
    assert warehouse.json("why", "%a1x")["near"][0]["id"] == A1


@pytest.mark.parametrize("given", ["@ali", "ssb:feed/ed25519/ali", "ssb:feed/classic/alice"])
def test_a_feed(warehouse, given):
    result = warehouse.ask("why", given)
    assert result.exit_code == 0
    assert "feed: complete, 3 messages up to sequence 3, verified up to 3\n" in result.stdout
    assert f"next message of the feed: sequence 4, previous {A2}" in result.stdout
    answer = warehouse.json("why", given)
    assert (answer["kind"], answer["id"], answer["is_well"], answer["outside"]) == ("feed", story.ALICE, True, [])
    assert warehouse.json("show", given)["id"] == story.ALICE


def test_a_feed_that_is_forked(warehouse):
    """The answer counts all messages outside of the chain, and lists the first of them with reasons and a remedy."""
    story.write_broken_feed(warehouse)
    warehouse.write("feed_next")
    answer = warehouse.json("why", story.CAROL)
    assert answer["outside_counts"] == {"forked": 2, "after_forked": 4} and answer["next"] is None
    assert [row["message_id"] for row in answer["outside"]][:2] == [story.C2, story.C2B] and not answer["is_well"]
    text = warehouse.ask("why", story.CAROL).stdout
    assert "forked: 2 messages. Several messages" in text and "must start a new feed" in text


def test_an_id_of_something_else(warehouse):
    warehouse.write("autobase_bases", {"base_id": "rooms/7", "status": "ok"})
    result = warehouse.ask("why", "rooms/7")
    assert result.exit_code == 1 and "the beginning of a base" in result.stdout
    assert "tangles show rooms/7 --kind base" in result.stdout
    assert warehouse.json("why", "rooms/7")["known_as"] == [{"kind": "base", "id": "rooms/7", "name": ""}]


def test_only_one_tangle(warehouse):
    assert warehouse.json("why", A1, "--in", "other")["tangles"] == []
    assert len(warehouse.json("why", A1, "--in", "thread")["tangles"]) == 1
    for only in (story.ROOT[:5], f"thread:{story.ROOT[:4]}", "ssb:message/classic/root"):
        assert len(warehouse.json("why", A1, "--in", only)["tangles"]) == 1
    result = warehouse.ask("why", A1, "--in", "other")
    assert result.exit_code == 1 and "it claims none that other names" in result.stdout


@pytest.mark.parametrize("words", [[], [""], ["%a1", "x:1"], ["%a1", "--kind", "other"]])
def test_wrong_arguments_are_refused(warehouse, words):
    assert warehouse.ask("why", *words).exit_code == 2


def test_a_long_path_to_the_cause_is_shortened(tmp_path):
    ids = [story.sigil(f"n{number:04}") for number in range(3000)]
    aside = {"set_aside_reason": "previous_set_aside", "blocked_by": [GONE]}
    warehouse = story.write(tmp_path / "wh")
    warehouse.write("ssb_messages", *(story.message(id_, story.BOB, 1) for id_ in ids))
    warehouse.write("tangle_messages", *(story.candidate(id_, story.BOB, None, **aside) for id_ in ids))
    links = zip([*ids], [*ids[1:], GONE], strict=True)
    warehouse.write("tangle_edges", *(story.edge(*link, False) for link in links))
    (tangle,) = warehouse.json("why", ids[0])["tangles"]
    assert tangle["causes"][0]["path"] == [*ids, GONE]
    assert "… 2,989 more …" in warehouse.ask("why", ids[0]).stdout


@pytest.mark.parametrize(
    ("status", "columns", "broken", "said"),
    [
        ("gap", {"gap_sequence": 2}, [], "2 is missing"),
        ("forked", {"fork_sequence": 2}, [A1, A2], "2 is forked"),
        ("bad_link", {}, [A1], "2 does not follow it"),
    ],
)
def test_the_message_that_breaks_the_chain_is_named(tmp_path, status, columns, broken, said):
    places = [(story.ROOT, 1, None, None), *((id_, 2, B1, status) for id_ in broken), (B2, 5, B1, f"after_{status}")]
    warehouse = story.write_feed(Warehouse(tmp_path / "wh"), story.BOB, places, status=status, **columns)
    answer = warehouse.json("why", B2)["feed"]
    assert (answer["in_chain"], answer["reason"]) == (False, f"after_{status}")
    assert [row["message_id"] for row in answer["broken_by"]] == broken
    text = warehouse.ask("why", B2).stdout
    assert said in text and f"last message of the chain: {story.ROOT}" in text


def test_each_branch_of_a_fork_has_its_own_followers(tmp_path):
    """The first of two messages with sequence 2 has a follower, and another message lists it with a wrong sequence."""
    links = [("b", 2, "a"), ("c", 2, "a"), ("d", 3, "b"), ("e", 5, "b"), ("f", 3, "f")]
    places = [("a", 1, None, None), *((*link, "forked" if link[1] == 2 else "after_forked") for link in links)]
    warehouse = Warehouse(tmp_path / "wh")
    story.write_feed(warehouse, story.BOB, places, status="forked", fork_sequence=2)
    followers = {
        id_: [row["message_id"] for row in warehouse.json("why", id_)["feed"]["followed_by"]] for id_, *_ in places
    }
    assert followers == {"a": ["b", "c"], "b": ["d", "e"], "c": [], "d": [], "e": [], "f": []}
    assert "followed by" in warehouse.ask("why", "b").stdout
    assert "followed by" not in warehouse.ask("why", "c").stdout


def test_a_message_beside_a_chain_that_reaches_the_end(tmp_path):
    """The document's example: a <- b <- c, and d of the sequence of c, which follows itself."""
    places = [("a", 1, None, None), ("b", 2, "a", None), ("c", 3, "b", None), ("d", 3, "d", "off_chain")]
    warehouse = story.write_feed(Warehouse(tmp_path / "wh"), story.BOB, places, status="bad_link")
    warehouse.write("feed_next", {"author": story.BOB, "sequence": 4, "previous_id": "c", "status": "bad_link"})
    assert warehouse.json("why", "d")["feed"]["broken_by"] == [
        {"message_id": "d", "sequence": 3, "reason": "off_chain"}
    ]
    for id_ in "cd":
        text = warehouse.ask("why", id_).stdout
        assert "its chain has all 3 sequences; messages beside the chain: 1" in text
        assert "the feed is complete" not in text and "the chain ends" not in text and "already published" not in text


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (None, "in the log, but it does not claim this tangle"),
        ("bad_signature", "in the log but not verified, bad_signature: The author"),
    ],
)
def test_a_cause_that_is_in_the_log(tmp_path, error, said):
    warehouse = story.write(tmp_path / "wh")
    messages = [story.message(B1, story.BOB, 1), story.message(GONE, story.BOB, 2, check_error=error)]
    warehouse.write("ssb_messages", *messages)
    warehouse.write("tangle_missing", story.missing(GONE, is_in_log=True, unlocks=0))
    (tangle,) = warehouse.json("why", B1)["tangles"]
    assert tangle["causes"][0]["trouble"] == "no_candidate"
    text = warehouse.ask("why", B1).stdout
    assert said in text and "get the missing messages" not in text and "publish a new message" in text


def test_a_cause_that_is_sealed(tmp_path):
    """The log has a message only in its encrypted form; `test_claim_references.py` has the other answers about it."""
    warehouse = story.write(tmp_path / "wh")
    messages = [story.message(B1, story.BOB, 1), story.message(GONE, story.BOB, 2, is_encrypted=True)]
    warehouse.write("ssb_messages", *messages)
    warehouse.write("tangle_missing", story.missing(GONE, is_in_log=True, is_sealed=True))
    assert "in this export it is sealed" in warehouse.ask("why", B1).stdout
    assert "2 become members once a decrypted export" in warehouse.ask("why", GONE).stdout


@pytest.mark.parametrize(
    ("status", "trouble", "said"),
    [
        ("sealed", "sealed", "the sealed messages are decrypted"),
        ("unusable", "no_candidate", "publish a new message"),
        ("missing", "missing", "it cannot be published again before the log shows the root"),
    ],
)
def test_a_root_that_no_message_lists(tmp_path, status, trouble, said):
    warehouse = story.write(tmp_path / "wh").write("tangle_next").write("tangle_edges").write("tangle_missing")
    warehouse.write("tangles", {"tangle_name": "thread", "root_id": GONE, "root_status": status})
    aside = {"root_id": GONE, "set_aside_reason": "missing_root", "blocked_by": [GONE]}
    warehouse.write("tangle_messages", story.candidate(B1, story.BOB, None, **aside))
    (tangle,) = warehouse.json("why", B1)["tangles"]
    assert (tangle["causes"][0]["trouble"], tangle["causes"][0]["path"]) == (trouble, [B1, GONE])
    text = warehouse.ask("why", B1).stdout
    assert said in text and ("publish a new message" in text) == (status == "unusable")
    if status == "missing":
        assert "the root is not in the log" in text
        assert f"tangles show thread:{GONE} --kind tangle" in warehouse.ask("why", GONE).stdout


def test_a_message_of_a_group(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    kind = {"content_type": "group/add-member"}
    warehouse.write("ssb_messages", *(story.message(id_, story.BOB, 1, **kind) for id_ in (A1, A2)))
    upon = {"group_id": story.ROOT, "epoch_id": story.ROOT}
    rows = [(A1, None, True), (A2, "unknown_epoch", False)]
    of_all = {"kind": "add", "published_in_kind": "unknown", **upon}
    warehouse.fill("group_messages", "message_id set_aside_reason is_connected", *rows, **of_all)
    warehouse.write("group_findings", {"finding": "unconnected_add", "message_ids": [A2, B1], "feed_id": "f"})
    place = {"root": story.ROOT, "previous": [A1]}
    for_kinds = ({**upon, "kind": each, "tangles": [("members", place)]} for each in ("add", "init"))
    warehouse.write("group_next", *for_kinds)
    verdict = {"group_id": story.ROOT, "kind": "add", "person": "bob"}
    verdicts = [(A1, "member", [B1]), (A2, "never", [])]
    warehouse.fill("group_authority", "message_id verdict evidence", *verdicts, **verdict)
    good, bad = (warehouse.json("why", id_)["group"] for id_ in (A1, A2))
    assert good["set_aside_reason"] is None and good["findings"] == good["next"] == []
    assert bad["meaning"].startswith("The add or exclude is valid, but")
    assert bad["findings"][0]["finding"] == "unconnected_add"
    assert bad["next"] == [{"epoch_id": story.ROOT, "kind": "add", "tangles": {"members": place}}]
    assert warehouse.json("why", A1)["authority"] == [{**verdict, "verdict": "member", "evidence": [B1]}]
    text = warehouse.ask("why", A1).stdout
    assert "counted by peers" in text and f"member of the group at that time\n    by the messages {B1}" in text
    text = warehouse.ask("why", A2).stdout
    assert "authority: never: the author was no member" in text
    assert "not counted: unknown_epoch" in text and f"root {story.ROOT} and previous {A1}" in text


def test_a_message_that_is_not_verified_and_that_a_tangle_waits_for(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    warehouse.write("tangle_missing", story.missing(BAD, is_in_log=True, unlocks=0))
    assert warehouse.json("why", BAD)["awaited_by"][0]["blocked_count"] == 2
    text = warehouse.ask("why", BAD).stdout
    assert "it belongs to none, because it is not verified" in text
    assert "waits for it: 1 message lists it as previous, 2 are set aside because of it" in text
