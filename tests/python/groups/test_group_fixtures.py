"""Checks the hand-written tables of private groups against a literal reading of the messages.

Sources: those of fixtures/ssb/group_examples.py. The reading shares no code with the project's computation of groups,
except `group_claim` for single messages and one test of the kernel.
"""

import base64
import hashlib
import hmac
import json
import struct
from collections import Counter
from functools import cached_property, partial

import pytest
from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

import fixture_seeds
from dbt_tangles.formats.ssb.group_claims import GroupReason, group_claim
from fixture_tangles import grow, message_id
from group_cases import rows_of
from group_tables import reduced

expected = partial(fixture_seeds.expected, "ssb")
EXAMPLES = sorted({row["example"] for row in expected("group_messages")})
MESSAGES = {
    message["key"]: message
    for name in ("worked_examples.jsonl", "private_groups.jsonl")
    for message in map(json.loads, fixture_seeds.lines("ssb", name))
}
CONTENTS = {key: message["value"]["content"] for key, message in MESSAGES.items()}


class Group:
    """The groups of one example, by letters."""

    def __init__(self, example):
        letters = [row for row in fixture_seeds.names("ssb", "message") if row["example"] == example]
        self.letter = {row["id"]: row["name"] for row in letters}
        self.key = {letter: key for key, letter in self.letter.items()}
        feeds = fixture_seeds.names("ssb", "feed")
        self.person = {row["id"]: row["name"] for row in feeds if row["example"] == example}
        in_log = [row["name"] for row in letters if row["is_in_log"] == "true"]
        self.content = {x: CONTENTS[self.key[x]] for x in in_log if isinstance(CONTENTS[self.key[x]], dict)}
        said = {letter: group_claim(content) for letter, content in self.content.items()}
        self.said = {letter: message for letter, message in said.items() if message}
        self.valid = {letter: message for letter, message in self.said.items() if not message.invalid_reason}
        self.inits = {letter for letter, message in self.valid.items() if message.kind.endswith("init")}
        self.group = {x: self.letter[self.valid[x].epoch_root or self.key[x]] for x in self.inits}
        self.feeds = {letter: [self.person[feed] for feed in m.feeds] for letter, m in self.valid.items()}
        self.epoch_of = {x: self.letter[m.epoch_id] for x, m in self.valid.items() if m.epoch_id}

        links = {}
        for letter in self.inits:
            listed = self.valid[letter].previous_epochs
            links[letter] = None if listed is None else [self.letter.get(key) for key in listed]
        self.depth = {}
        for root in links:
            if links[root] is None:
                self.depth |= grow({x: y for x, y in links.items() if self.group[x] == root}, root)
        self.previous = {epoch: list(dict.fromkeys(links[epoch] or [])) for epoch in self.depth}
        self.counted = self.depth.keys() | {x for x, epoch in self.epoch_of.items() if epoch in self.depth}

    @cached_property
    def roots(self):
        """Return the tangles of the recipes that contain each message: (name, letter) to the root."""
        found = {}
        for name in ("epoch", "members", "group"):
            links, root_of = {}, {}
            for letter, content in self.content.items():
                entry = content.get("tangles", {}).get(name)
                if not isinstance(entry, dict) or (name == "epoch" and content["type"] != "group/init"):
                    continue
                if entry["root"] is None:
                    links[letter], root_of[letter] = None, letter
                elif all(isinstance(link, str) for link in entry["previous"]):
                    links[letter] = [self.to_letter(link) for link in entry["previous"]]
                    root_of[letter] = self.to_letter(entry["root"])
            for root in {letter for letter in links if links[letter] is None}:
                for letter in grow({x: y for x, y in links.items() if root_of[x] == root}, root):
                    found[name, letter] = root, links[letter] or []
        return found

    def to_letter(self, link):
        """Return the letter of a linked message, in every form of the link."""
        return self.letter[message_id(link)]

    def is_connected(self, letter):
        """Say whether a message is in the tangle that it extends."""
        return ("epoch" if self.said[letter].kind.endswith("init") else "members", letter) in self.roots

    def by(self, kind, epoch, person=None):
        """List the adds or excludes of an epoch, by id, or those of a person."""
        found = [x for x in self.counted if self.valid[x].kind == kind and self.epoch_of[x] == epoch]
        return sorted((x for x in found if person is None or person in self.feeds[x]), key=self.key.get)

    def people(self, kind, epochs):
        """Return the people added to, or excluded from, epochs."""
        return {person for epoch in epochs for x in self.by(kind, epoch) for person in self.feeds[x]}

    def before(self, epoch):
        """Return all ancestors of an epoch."""
        return set(self.previous[epoch]).union(*map(self.before, self.previous[epoch]))

    def expected(self, epoch):
        """Return the people missing from an epoch."""
        before = self.before(epoch)
        return self.people("add", before) - self.people("exclude", before) - self.people("add", [epoch])

    def returned(self, epoch):
        """Return the people added to an epoch although an ancestor excludes them."""
        return self.people("add", [epoch]) & self.people("exclude", self.before(epoch))

    def secret(self, epoch):
        """Return the key of an epoch."""
        return base64.b64decode(self.content[epoch]["secret"]).hex()

    def tips(self, root):
        """Return the epochs of a group without successors."""
        epochs = {epoch for epoch in self.depth if self.group[epoch] == root}
        return epochs - {previous for epoch in epochs for previous in self.previous[epoch]}

    def choice(self, root):
        """Return the preferred tip and the case it was chosen by."""
        added = {tip: self.people("add", [tip]) for tip in self.tips(root)}
        least = [tip for tip in added if not any(other < added[tip] for other in added.values())]
        preferred = min(least, key=lambda tip: (self.secret(tip), self.key[tip]))
        if len(added) != 2:
            return "single_tip" if len(added) == 1 else "many_tips", preferred
        one, other = added.values()
        if one == other:
            return "same_members", preferred
        if one < other or other < one:
            return "subset", preferred
        return "overlap" if one & other else "disjoint", preferred

    def lost(self, epoch):
        """Return the standing adds that are not in an epoch because of an older exclude: (person, epoch of the add)."""
        before = self.before(epoch)
        return {
            (person, earlier)
            for earlier in before
            for person in self.people("add", [earlier]) - self.people("add", [epoch])
            if person in self.people("exclude", before)
            and person not in self.people("exclude", [x for x in before if x == earlier or earlier in self.before(x)])
        }

    def published_in(self, letter):
        """Return the epoch that a message was published in, or the reason why it is unknown."""
        message, content = MESSAGES[self.key[letter]], self.content[letter]
        if letter in self.valid and isinstance(message.get("meta"), dict):
            own = [content.get("secret"), *content.get("oldSecrets", [])]
            for epoch in self.inits:
                secret = self.content[epoch]["secret"]
                if secret in own and opens(base64.b64decode(secret), message):
                    return epoch
        on_feed = [m for m in MESSAGES.values() if m["value"]["author"] == message["value"]["author"]]
        on_feed.sort(key=lambda m: m["value"]["sequence"])
        kinds = [type_of(m["value"]["content"]) for m in on_feed]
        if set(kinds) == {"group/add-member"}:
            return "additions"
        is_of_epoch = kinds[0] == "group/init" and "group/init" not in kinds[1:] and None not in kinds
        first = self.letter[on_feed[0]["key"]]
        return first if is_of_epoch and first in self.depth else "unknown"

    def may_be_on_additions(self, letter):
        """Say whether all readable messages of a message's feed are adds."""
        author = MESSAGES[self.key[letter]]["value"]["author"]
        kinds = {type_of(m["value"]["content"]) for m in MESSAGES.values() if m["value"]["author"] == author}
        return kinds <= {"group/add-member", None}

    def ancestors(self, letter):
        """Return the ancestors of a message in the group tangle."""
        seen, left = set(), [letter]
        while left:
            left += set(self.roots["group", left.pop()][1]) - seen
            seen |= set(left)
        return seen


def opens(key, message):
    """Say whether a group's key opens the envelope of a message, as the specification draws it."""
    envelope = base64.b64decode(message["meta"]["originalContent"].removesuffix(".box2"))
    feed, before = message["value"]["author"], message["value"]["previous"]
    feed = b"\0\0" + base64.b64decode(feed[1:45])
    before = b"\1\0" + (base64.b64decode(before[1:45]) if before else bytes(32))

    def derive(secret, *labels):
        parts = (b"envelope", feed, before, *labels)
        info = b"".join(struct.pack("<H", len(part)) + part for part in parts)
        return hmac.digest(secret, info + b"\1", "sha256")

    slot = derive(key, b"slot_key", b"envelope-large-symmetric-group")
    read_key = derive(bytes(a ^ b for a, b in zip(envelope[32:64], slot, strict=True)), b"read_key")
    try:
        header = SecretBox(derive(read_key, b"header_key")).decrypt(envelope[:32], bytes(24))
    except CryptoError:
        return False
    body = envelope[int.from_bytes(header[:2], "little") :]
    opened = SecretBox(derive(read_key, b"body_key")).decrypt(body, bytes(24))
    assert json.loads(opened) == message["value"]["content"]
    return True


def type_of(content):
    return content["type"] if isinstance(content, dict) else None


@pytest.fixture(scope="module", params=EXAMPLES)
def group(request):
    """Return the groups of an example, and a function for the rows that it states."""
    return Group(request.param), lambda statement: expected(statement, example=request.param)


def yes(value):
    return str(bool(value)).lower()


def unnamed(rows):
    """Return rows without their example, in any order."""
    return Counter(tuple(cell for name, cell in row.items() if name != "example") for row in rows)


def same(stated, found):
    """Compare stated rows with tuples in the order of the columns."""
    assert unnamed(stated) == Counter(tuple(map(str, row)) for row in found)


def test_messages(group):
    """Each message of a group type has its row."""
    group, stated = group
    rows = []
    for letter, message in group.said.items():
        reason = message.invalid_reason.value if message.invalid_reason else ""
        place = ["", ""]
        if letter in group.valid:
            epoch = group.epoch_of.get(letter, letter)
            place = [group.group.get(epoch, ""), epoch]
            if letter not in group.counted:
                reason = "unconnected_epoch" if letter in group.inits else "unknown_epoch"
        people = " ".join(group.feeds.get(letter, []))
        connected = yes(group.is_connected(letter))
        published = group.published_in(letter)
        rows.append((letter, message.kind, reason, *place, connected, people, message.unchecked_count, published))
    same(stated("group_messages"), rows)


def test_epochs(group):
    """Each epoch has its row."""
    group, stated = group
    rows = []
    for epoch, depth in group.depth.items():
        root = group.group[epoch]
        preference, preferred = group.choice(root)
        is_decided = preference not in ("disjoint", "many_tips")
        tips = group.tips(root)
        counts = [
            group.people("add", [epoch]),
            group.people("exclude", [epoch]),
            group.expected(epoch),
            group.returned(epoch),
        ]
        place = [epoch, root, " ".join(group.previous[epoch]), depth, yes(epoch in tips), yes(epoch == preferred)]
        rows.append((*place, preference, yes(is_decided), len(tips), *map(len, counts)))
    same(stated("group_epochs"), rows)


def test_members(group):
    """Each epoch and person has its row; lists of adds and excludes are ordered by id."""
    group, stated = group
    rows = []
    for epoch in group.depth:
        missing = group.expected(epoch)
        for person in group.people("add", [epoch]) | group.people("exclude", [epoch]) | missing:
            adds, excludes = group.by("add", epoch, person), group.by("exclude", epoch, person)
            flags = [yes(adds), yes(excludes), yes(any(map(group.is_connected, adds)))]
            last = [yes(person in missing), yes(person in group.returned(epoch))]
            rows.append((group.group[epoch], epoch, person, *flags, " ".join(adds), " ".join(excludes), *last))
    same(stated("group_members"), rows)


def findings(group):
    """Yield the rows of findings: group, finding, epoch, person, messages."""
    for epoch in group.depth:
        root, previous = group.group[epoch], group.previous[epoch]
        for person in group.people("add", [epoch]):
            adds = group.by("add", epoch, person)
            if not any(map(group.is_connected, adds)):
                yield root, "unconnected_add", epoch, person, adds
        for person in group.returned(epoch):
            yield root, "returned_though_excluded", epoch, person, group.by("add", epoch, person)
        for person, earlier in group.lost(epoch) - set().union(*map(group.lost, previous)):
            [exclude] = [x for before in group.before(epoch) for x in group.by("exclude", before, person)]
            [add] = group.by("add", earlier, person)
            yield root, "dropped_after_return", epoch, person, [exclude, add, epoch]
        if group.roots.get(("group", epoch), [""])[0] == root:
            excludes = {exclude for earlier in previous for exclude in group.by("exclude", earlier)}
            if foreign := excludes - group.ancestors(epoch):
                yield root, "foreign_exclude", epoch, "", foreign
    for letter in group.said.keys() - group.counted:
        if group.said[letter].kind.endswith("init") and group.is_connected(letter):
            yield group.roots["epoch", letter][0], "init_not_counted", letter, "", [letter]
    for letter in group.counted:
        message = group.valid[letter]
        epoch = group.epoch_of.get(letter, letter)
        root = group.group[epoch]
        if message.unchecked_count:
            yield root, "unchecked_entry", epoch, "", [letter]
        if message.group_root and group.letter[message.group_root] != root:
            yield root, "foreign_group", epoch, "", [letter]
        if message.kind == "add" and root != epoch == group.published_in(letter):
            yield root, "added_in_own_epoch", epoch, "", [letter]
        if message.kind == "add" and root == epoch and not group.may_be_on_additions(letter):
            yield root, "added_outside_additions", epoch, "", [letter]
        if message.kind == "add" and message.key_fingerprint != group.valid[epoch].key_fingerprint:
            yield root, "foreign_key", epoch, "", [letter]
    for root in {group.group[epoch] for epoch in group.depth}:
        epochs = [epoch for epoch in group.depth if group.group[epoch] == root]
        for secret, count in Counter(map(group.secret, epochs)).items():
            if count > 1:
                yield root, "same_key", "", "", [epoch for epoch in epochs if group.secret(epoch) == secret]
        preference, preferred = group.choice(root)
        if preference in ("disjoint", "many_tips"):
            yield root, "no_answer", preferred, "", group.tips(root)


def test_findings(group):
    """The stated findings are exactly the real ones. The order of messages counts for one kind only."""
    group, stated = group

    def unordered(finding, messages):
        return tuple(messages if finding == "dropped_after_return" else sorted(messages))

    rows = stated("group_findings")
    assert all(int(row["message_count"]) == len(row["messages"].split()) for row in rows)
    assert Counter(
        (r["group_root"], r["finding"], r["epoch"], r["person"], unordered(r["finding"], r["messages"].split()))
        for r in rows
    ) == Counter((*row, unordered(row[1], messages)) for *row, messages in findings(group))


def test_the_kernel_agrees(group):
    """`reduce_groups` gives the epochs, members and dropped members of the hand-written tables."""
    group, stated = group
    messages = [{"key": group.key[x], "value": {"content": content}} for x, content in group.content.items()]
    epochs, members, dropped = reduced(rows_of({"messages": messages}))

    def named(row):
        place = {"group_root": group.letter[row["group_id"]], "epoch": group.letter[row["epoch_id"]]}
        if "feed_id" in row:
            place["person"] = group.person[row["feed_id"]]
        lists = {name: row[name] for name in ("added_by", "excluded_by") if name in row}
        texts = {name: yes(value) if isinstance(value, bool) else str(value) for name, value in row.items()}
        return texts | place | {name: " ".join(map(group.letter.get, ids)) for name, ids in lists.items()}

    def of(rows, columns):
        return Counter(tuple(row[column] for column in columns) for row in rows)

    for name, found in (("group_epochs", epochs), ("group_members", members)):
        rows = list(map(named, found.values()))
        known = [column for column in stated(name)[0] if column in rows[0]] if rows else []
        assert len(rows) == len(stated(name)) and of(rows, known) == of(stated(name), known)
    rows = list(map(named, dropped.values()))
    for row in rows:
        row["messages"] = " ".join((row["excluded_by"], row["added_by"], row["epoch"]))
    findings = [row for row in stated("group_findings") if row["finding"] == "dropped_after_return"]
    columns = ("group_root", "epoch", "person", "messages")
    assert of(rows, columns) == of(findings, columns)


def test_every_rule_has_an_example():
    """All findings, all cases of preference, all reasons."""
    assert {row["finding"] for row in expected("group_findings")} == {
        "dropped_after_return",
        "foreign_exclude",
        "unconnected_add",
        "returned_though_excluded",
        "init_not_counted",
        "unchecked_entry",
        "foreign_group",
        "foreign_key",
        "same_key",
        "no_answer",
        "added_in_own_epoch",
        "added_outside_additions",
    }
    published = {row["published_in"] for row in expected("group_messages")}
    assert published > {"additions", "unknown"}
    cases = {"single_tip", "same_members", "subset", "overlap", "disjoint", "many_tips"}
    assert {row["preference"] for row in expected("group_epochs")} == cases
    reasons = {row["set_aside_reason"] for row in expected("group_messages")}
    assert reasons == {reason.value for reason in GroupReason} | {"", "unconnected_epoch", "unknown_epoch"}


def test_other_tie_breaks_would_give_other_preferred_epochs():
    """Where keys decide, ids, fingerprints and base64 forms of keys would prefer another epoch."""
    for example in ("group_fork_charged", "group_same_members", "group_disjoint", "group_many_tips"):
        group = Group(example)
        [root] = {group.group[epoch] for epoch in group.depth}
        _, preferred = group.choice(root)
        tips = group.tips(root)
        for order in (
            group.key.get,
            lambda tip, group=group: group.content[tip]["secret"],
            lambda tip, group=group: hashlib.sha256(bytes.fromhex(group.secret(tip))).digest(),
        ):
            assert min(tips - {"L"}, key=order) != preferred, example
    group = Group("group_subset")
    _, preferred = group.choice("init_0")
    assert preferred != min(group.tips("init_0"), key=group.secret)


def test_people_are_of_one_example():
    """Each feed belongs to one example; invalid feed ids are exempt."""
    feeds = Counter(row["id"] for row in fixture_seeds.names("ssb", "feed"))
    assert set(feeds.values()) == {1}
