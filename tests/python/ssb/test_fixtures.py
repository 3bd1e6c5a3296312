"""The committed fixtures are validly signed, and their hand-written tables are free of slips."""

import base64
import hashlib
import itertools
import json
from functools import partial
from typing import NamedTuple

import pytest
from nacl.signing import VerifyKey

import fixture_seeds
from conftest import DATA
from fixture_tangles import grow, message_id

expected = partial(fixture_seeds.expected, "ssb")
lines = partial(fixture_seeds.lines, "ssb")

FILES = {
    name: list(map(json.loads, lines(name)))
    for name in ("worked_examples.jsonl", "private_groups.jsonl", "records.jsonl")
}
MESSAGES = {message["key"]: message for messages in FILES.values() for message in messages}
LETTERS = fixture_seeds.names("ssb", "message")
NAMES = {(row["example"], row["id"]): row["name"] for row in LETTERS}
IDS = {(example, letter): key for (example, key), letter in NAMES.items()}
TANGLES = [(row["example"], row["tangle_name"], row["root"]) for row in expected("tangles")]


def text_of(value):
    """Print a value of ordinary content as JavaScript does; Python's own JSON module agrees for such values."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def test_letters_are_the_computed_ids_and_signatures_hold():
    """The letters name the messages of the log, and each is validly signed."""
    assert len(IDS) == len(NAMES) == len(LETTERS)
    in_log = {row["id"] for row in LETTERS if row["is_in_log"] == "true"}
    assert in_log == set(MESSAGES)
    for key, message in MESSAGES.items():
        value = as_signed(message)
        digest = hashlib.sha256(text_of(value).encode("utf-16-le")[::2]).digest()
        assert key == "%" + base64.b64encode(digest).decode() + ".sha256"
        signature = base64.b64decode(value.pop("signature").removesuffix(".sig.ed25519"))
        public_key = base64.b64decode(value["author"].removeprefix("@").removesuffix(".ed25519"))
        VerifyKey(public_key).verify(text_of(value).encode(), signature)


def as_signed(message):
    """Return a message's value as it was before an exporter decrypted it."""
    value = dict(message["value"])
    if "meta" in message:
        value["content"] = message["meta"]["originalContent"]
    if "meta" in value:
        value["content"] = value.pop("meta")["original"]["content"]
    return value


def test_some_messages_were_encrypted():
    """Two ways of showing a decrypted message, and one that stays encrypted."""
    encrypted = [message for message in MESSAGES.values() if isinstance(as_signed(message)["content"], str)]
    assert [as_signed(message)["content"] == message["value"]["content"] for message in encrypted].count(True) == 1
    assert sum("meta" in message for message in encrypted) > sum("meta" in m["value"] for m in encrypted) == 1


def test_the_damaged_log_is_carried_byte_for_byte():
    """Base64 preserves bytes that a CSV would change."""
    raw = (DATA / "ssb" / "small.jsonl").read_bytes()
    assert b"".join(line + b"\n" for line in lines("damaged.jsonl")) == raw


def test_every_message_is_in_a_feed():
    """The hand-written feeds are the published ones."""
    feeds = {(row["example"], row["name"]): row["id"] for row in fixture_seeds.names("ssb", "feed")}
    rows = expected("feed_messages")
    assert {IDS[row["example"], row["message"]] for row in rows} == set(MESSAGES)
    for row in rows:
        value = MESSAGES[IDS[row["example"], row["message"]]]["value"]
        assert value["author"] == feeds[row["example"], row["author"]]
        assert value["sequence"] == int(row["sequence"])
        assert value["previous"] == IDS.get((row["example"], row["previous"]))
    for row in expected("feeds"):
        own = [r for r in rows if (r["example"], r["author"]) == (row["example"], row["author"])]
        assert len(own) == int(row["message_count"]) == int(row["max_sequence"]) == int(row["verified_length"])
        assert own[-1]["message"] == row["latest"]


def to_letter(example, link):
    """Return the letter of a linked message, for any form of the link."""
    return NAMES[example, message_id(link)]


def candidates(example, name, root):
    """Return the claims: the letters that each candidate lists, in the order of receipt."""
    found = {}
    for key, message in MESSAGES.items():
        if (example, key) not in NAMES:
            continue
        entry = message["value"]["content"].get("tangles", {}).get(name)
        if entry is None:
            continue
        letter = NAMES[example, key]
        if entry["root"] is None and letter == root:
            found[letter] = []
        elif entry["root"] is not None and to_letter(example, entry["root"]) == root:
            found[letter] = [to_letter(example, link) for link in entry["previous"]]
    return found


def tips_of(members, links):
    """Return the members without children."""
    return sorted(members.keys() - {p for letter in members for p in links[letter]})


class Computed(NamedTuple):
    """A tangle as a simple computation from the messages gives it, and its rows of `tangle_messages` by letter.

    Attributes:
        where: The key of the tangle in the tables.
        rows: The hand-written rows.
        links: The letters that each candidate lists, in the order of receipt.
        refused: The candidates of the wrong type.
        depth: The depth of each member.
        message: The message of each candidate.
        placed: The members in causal order, ties by the earlier of both times.
        children: The members that list each member.
    """

    where: dict
    rows: dict
    links: dict
    refused: set
    depth: dict
    message: dict
    placed: list
    children: dict


@pytest.fixture(params=TANGLES, ids=map("-".join, TANGLES))
def computed(request):
    """Return each tangle of the examples, computed."""
    example, name, root = request.param
    where = {"example": example, "tangle_name": name, "root": root}
    links = candidates(example, name, root)
    rows = {row["message"]: row for row in expected("tangle_messages", **where)}
    refused = {letter for letter, row in rows.items() if row["set_aside_reason"] == "wrong_type"}
    depth = grow(links, root, refused)
    message = {letter: MESSAGES[IDS[example, letter]] for letter in links}
    earliest = {x: min(message[x]["value"]["timestamp"], message[x]["timestamp"]) for x in links}
    placed = []
    while len(placed) < len(depth):
        ready = [x for x in depth if x not in placed and all(p in placed for p in links[x])]
        placed.append(min(ready, key=earliest.get))
    children = {letter: [x for x in depth if letter in links[x]] for letter in depth}
    return Computed(where, rows, links, refused, depth, message, placed, children)


def test_rows_of_messages_agree_with_the_messages(computed):
    """The hand-written rows equal a simple computation from the messages."""
    where, rows, links, _, depth, message, placed, children = computed
    assert {letter: " ".join(previous) for letter, previous in links.items()} == {
        letter: row["previous"] for letter, row in rows.items()
    }
    assert {letter: str(depth.get(letter, "")) for letter in links} == {x: row["depth"] for x, row in rows.items()}
    assert {letter for letter, row in rows.items() if row["is_member"] == "true"} == depth.keys()

    assert in_order(rows, "position") == sorted(depth, key=lambda x: (depth[x], message[x]["key"]))
    assert in_order(rows, "asserted_position") == sorted(depth, key=lambda x: message[x]["value"]["timestamp"])
    assert in_order(rows, "thread_position") == placed

    assert {x for x, row in rows.items() if row["is_root"] == "true"} == {where["root"]}
    assert sorted(x for x, row in rows.items() if row["is_tip"] == "true") == tips_of(depth, links)
    assert {x for x, row in rows.items() if row["is_fork"] == "true"} == {x for x in depth if len(children[x]) > 1}
    assert {x for x, row in rows.items() if row["is_merge"] == "true"} == {x for x in depth if len(links[x]) > 1}


def test_paths_and_counts_agree_with_the_messages(computed):
    """The hand-written ancestors, edges and counts equal a simple computation from the messages."""
    where, rows, links, refused, depth, message, placed, children = computed

    def longest(message, ancestor):
        if message == ancestor:
            return 0
        steps = [longest(p, ancestor) for p in links[message]]
        return max((1 + s for s in steps if s is not None), default=None)

    pairs = {(m, a): longest(m, a) for m, a in itertools.product(depth, depth) if m != a}
    assert {(r["message"], r["ancestor"]): int(r["distance"]) for r in expected("tangle_ancestors", **where)} == {
        pair: steps for pair, steps in pairs.items() if steps is not None
    }
    edges = {(m, p): pairs[m, p] > 1 for m in depth for p in links[m]}
    assert {
        (r["message"], r["previous"]): r["is_redundant"] == "true" for r in expected("tangle_edges", **where)
    } == edges

    concurrent = {m: sum(not pairs[m, x] and not pairs[x, m] for x in depth if x != m) for m in depth}
    ties = {x: before for before, x in itertools.pairwise(placed) if pairs[x, before] is None}
    assert {x: row["concurrent_count"] for x, row in rows.items()} == {x: str(concurrent.get(x, "")) for x in links}
    assert {x: row["tie_broken_with"] for x, row in rows.items()} == {x: ties.get(x, "") for x in links}

    [tangle] = expected("tangles", **where)
    levels = list(depth.values())
    asserted = {x: message[x]["value"]["timestamp"] for x in links}
    assert {k: v for k, v in tangle.items() if k not in where} == {
        "root_status": "present",
        "member_count": str(len(depth)),
        "set_aside_count": str(len(links) - len(depth) - len(refused)),  # not a candidate: its claim is rejected
        "edge_count": str(len(edges)),
        "author_count": str(len({message[x]["value"]["author"] for x in depth})),
        "depth": str(max(levels)),
        "width": str(max(levels.count(level) for level in levels)),
        "fork_count": str(sum(len(found) > 1 for found in children.values())),
        "merge_count": str(sum(len(links[x]) > 1 for x in depth)),
        "tips": " ".join(tips_of(depth, links)),
        "misordered_pairs": str(sum(asserted[m] < asserted[p] for m, p in edges)),
        "misordered_received_pairs": str(sum(message[m]["timestamp"] < message[p]["timestamp"] for m, p in edges)),
    }


def test_tips_after_each_receipt_agree_with_the_messages(computed):
    """The hand-written tips after each receipt equal those of the messages received so far."""
    where, links, refused = computed.where, computed.links, computed.refused
    steps = expected("tangle_tips", **where)
    received = []
    for step, letter in enumerate(links, start=1):
        received.append(letter)
        known = {x: links[x] for x in received}
        here = [row for row in steps if int(row["step"]) == step]
        assert {row["received"] for row in here} == {letter}
        assert {row["is_final"] for row in here} == {str(step == len(links)).lower()}
        assert sorted(row["tip"] for row in here) == tips_of(grow(known, where["root"], refused), known)
    assert {int(row["step"]) for row in steps} == set(range(1, len(links) + 1))


def in_order(rows, column):
    """Return the letters with a position, by their position."""
    placed = sorted((int(row[column]), letter) for letter, row in rows.items() if row[column] != "")
    assert [place for place, _ in placed] == list(range(len(placed)))
    return [letter for _, letter in placed]
