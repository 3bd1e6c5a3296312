"""The committed fixtures are validly signed, and their hand-written tables are free of slips."""

import json
from functools import partial

import pytest

import fixture_seeds
from dbt_tangles.algorithms.set import OUTPUT_SCHEMA, reduce_sets
from dbt_tangles.formats.pzp.items import item_of, token_of
from fixtures.pzp.author import Device, id_of, to_line
from pzp_kit import check, judge
from set_tables import table_of

FILES = ("growth.jsonl", "rules.jsonl", "malformed.jsonl")


expected = partial(fixture_seeds.expected, "pzp")
lines = partial(fixture_seeds.lines, "pzp")

CHECKED = {file: check(lines(file)) for file in FILES}
ROWS = [row for rows in CHECKED.values() for row in rows]
IDS = {(row["example"], row["name"]): row["id"] for row in fixture_seeds.names("pzp", "message")}
EXAMPLES = [row["example"] for row in expected("sets")]
# The kit cannot know the keys of the account, nor that another message is named as a root.
BEYOND_THE_KIT = {"unauthorised_key", "not_a_feed"}


def ids_of(example, letters):
    return [IDS[example, letter] for letter in letters.split()]


def documents():
    """Read each message of the log once, with data if any line has them, without envelopes."""
    found = {}
    for file in FILES[:2]:
        for line, row in zip(lines(file), CHECKED[file], strict=True):
            message = json.loads(line)
            message = message.get("msg", message)
            if row["message_id"] not in found or message["data"] is not None:
                found[row["message_id"]] = message
    return found


DOCUMENTS = documents()


@pytest.mark.parametrize("file", FILES)
def test_the_lines_have_their_intended_verdicts(file):
    rejects = {int(row["line"]): row["reason"] for row in expected("pzp_rejects", example=file)}
    found = {place: row["reject_reason"] for place, row in enumerate(CHECKED[file], start=1)}
    assert {place: reason for place, reason in found.items() if reason} == rejects
    assert (set(found) == set(rejects)) is (file == "malformed.jsonl")


def test_letters_are_those_of_the_log():
    in_log = {row["message_id"] for file in FILES[:2] for row in CHECKED[file]}
    accounts = {row["message_id"] for row in ROWS if row["domain"] == "account__account"}
    assert in_log - set(IDS.values()) == accounts
    assert {name for name, message in IDS.items() if message not in in_log} == {
        ("missing_middle", "B"),
        ("one_unknown", "B"),
        ("missing_root", "R"),
    }


@pytest.mark.parametrize("example", EXAMPLES)
def test_validity_is_as_stated(example):
    """If only the set itself decides."""
    root = IDS[example, "R"]
    stated = {}
    for row in expected("set_messages", example=example):
        answer = (row["is_valid"] == "true", row["reject_reason"] or None, row["is_held"] == "true")
        if row["reject_reason"] == "bad_set_data":  # The feed tangle accepts the message.
            answer = (True, None, False)
        stated[IDS[example, row["letter"]]] = answer
    found = {message: answer for (set_id, message), answer in judge(ROWS).items() if set_id == root}
    if not BEYOND_THE_KIT & {reason for _, reason, _ in stated.values()}:
        assert found == stated
    elif example == "devices":
        # Apart from their keys, they are valid.
        assert {message for message, answer in found.items() if answer != stated[message]} == set(
            ids_of(example, "C D E H")
        )
    else:
        assert example == "not_a_feed"


def members_of(example):
    """Return the rows of a set's members, as the oracle takes them."""
    root = IDS[example, "R"]
    rows = []
    for stated in expected("set_messages", example=example):
        message = IDS[example, stated["letter"]]
        if "true" not in (stated["is_valid"], stated["is_held"]):
            continue
        document = DOCUMENTS[message]
        data, metadata = document["data"], document["metadata"]
        is_shape = isinstance(data, dict) and all(isinstance(data.get(k), list) for k in ("add", "del", "supersedes"))
        supersedes = data.get("supersedes") if isinstance(data, dict) else None
        rows.append(
            {
                "set_id": root,
                "message_id": message,
                "account": metadata["account"],
                "domain": metadata["domain"],
                "depth": metadata["tangles"].get(root, {}).get("depth"),
                "prev": metadata["tangles"].get(root, {}).get("prev"),
                "is_moot": message == root,
                "has_data": data not in (None, ""),
                "is_set_shape": is_shape,
                "add": tokens(message, data["add"]) if is_shape else None,
                "del": tokens(message, data["del"]) if is_shape else None,
                "supersedes": [entry for entry in supersedes or [] if isinstance(entry, str)],
            }
        )
    return rows


def tokens(message, entries):
    """Encode entries as tokens; tokens of objects are never equal."""
    found = map(token_of, entries)
    return [f"{token}\0{message}{place}" if token[:2] == "\0{" else token for place, token in enumerate(found)]


def reduced(rows):
    """Return the result for each message, by id."""
    found = reduce_sets(table_of(rows)).cast(OUTPUT_SCHEMA).to_pylist()
    return {row["message_id"]: answer for row, answer in zip(rows, found, strict=True)}


def publish_next(members, answers, add, delete):
    """Sign the message that the tables suggest, which adds and deletes items; return it and its row.

    Superseded messages may hold other items: the message adds these as well, and supersedes their messages, repeatedly.
    """
    root = next(row for row in members if row["is_moot"])
    items = {item["item"]: item for answer in answers.values() for item in answer["next_items"]}
    present = {item["item"] for answer in answers.values() for item in answer["items"]}
    add, supersedes = list(add), set()
    if add:
        supersedes |= {message for item in items.values() for message in item["open_deletions"]}
    while True:
        touched = {*add, *delete}
        supersedes |= {message for item in touched & items.keys() for message in items[item]["deepest"]}
        more = {i for i in (present & items.keys()) - touched if supersedes & {*items[i]["deepest"]}}
        if not more:
            break
        add += sorted(more)
        supersedes |= {message for item in items.values() for message in item["open_deletions"]}
    place = {
        "depth": 1 + max(row["depth"] or 0 for row in members),
        "prev": sorted(message for message, answer in answers.items() if answer["is_next_prev"]),
    }
    data = {"add": add, "del": delete, "supersedes": sorted(supersedes)}
    account, set_id = root["account"], root["message_id"]
    message = Device.from_name("next").write(data, {set_id: place}, account, root["domain"])
    said = {name: root[name] for name in ("set_id", "account", "domain")}
    flags = {"is_moot": False, "has_data": True, "is_set_shape": True}
    return message, {**said, **flags, **place, **data, "message_id": id_of(message)}


@pytest.mark.parametrize("example", [row["example"] for row in expected("sets", root_status="present")])
def test_the_suggested_next_message_is_valid(example):
    """On top of each set, a message made from the tables first adds an item, then deletes one."""
    members = members_of(example)
    for row in members:
        row["add"], row["del"] = ([item_of(i).split("\0")[0] for i in row[name] or []] for name in ("add", "del"))
    answers = reduced(members)
    present = [item["item"] for answer in answers.values() for item in answer["items"]]
    for add, delete in ((["zoe"], []), ([], sorted(present)[:1])):
        if not add + delete:
            continue
        message, row = publish_next(members, answers, add, delete)
        after = reduced([*members, row])
        assert after[row["message_id"]]["writer_faults"] == []
        assert after[row["message_id"]]["is_tip"]
        now = {item["item"] for answer in after.values() for item in answer["items"]}
        assert now == {*present, *add} - {*delete}
        [checked] = check([to_line(message)])
        verdict = judge([*ROWS, checked])[row["set_id"], row["message_id"]]
        assert verdict == (True, None, False)


def test_the_fixtures_state_the_next_message():
    for stated in expected("set_next"):
        example = stated["example"]
        answers = reduced(members_of(example))
        listed = {message for message, answer in answers.items() if answer["is_next_prev"]}
        opened = {m for answer in answers.values() for item in answer["next_items"] for m in item["open_deletions"]}
        assert (listed, opened) == tuple({*ids_of(example, stated[name])} for name in ("prev", "should_supersede"))


def test_the_growth_agrees_with_the_document():
    stated = [row for row in expected("sets") if row["example"].startswith("growth_")]
    blue = [set(row["item_roots"].split()) for row in stated]
    assert blue == [{"A"}, {"A", "B"}, {"B", "C"}, {"B", "C", "D"}, {"B", "D", "E"}]
    assert json.loads(stated[-1]["items"]) == ["bob", "carol"]


def test_ids_are_not_sorted_by_code_unit():
    ids = ids_of("collation", "A B C")
    assert sorted(ids, key=str.lower) == ids != sorted(ids)
