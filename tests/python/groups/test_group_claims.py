"""Contents of group messages: the four JSON schemas of the specification against the hand-written checks."""

import copy
import gzip
import itertools
import json
from base64 import b64decode, b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from conftest import DATA
from dbt_tangles.formats.ssb.group_claims import (
    ADD,
    EPOCH_INIT,
    EXCLUDE,
    ROOT_INIT,
    GroupReason,
    epoch_key,
    group_claim,
)
from group_kit import places

INITS = (ROOT_INIT, EPOCH_INIT)


def text(pattern):
    return {"type": "string", "pattern": rf"\A{pattern}[AEIMQUYcgkosw048]=\Z"}


def array(*items, **bounds):
    return {"type": "array", "items": list(items), **bounds}


def record(is_closed=True, optional=None, **required):
    properties = required | (optional or {})
    return {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": not is_closed,
    }


SECRET = text(r"[a-zA-Z0-9\/+]{42}")
MESSAGE, FEED, GROUP = (
    text(rf"ssb:{kind}/[a-zA-Z0-9_\-]{{42}}") for kind in ("message/classic", "feed/bendybutt-v1", "identity/group")
)
ROOT = record(False, root={"type": "null"}, previous={"type": "null"})
UPDATE = record(False, root=MESSAGE, previous=array(MESSAGE, minItems=1))
INIT = {"type": {"const": "group/init"}, "version": {"const": "v2"}, "secret": SECRET}
SCHEMAS = {
    ROOT_INIT: record(**INIT, tangles=record(group=ROOT, epoch=ROOT, members=ROOT)),
    EPOCH_INIT: record(
        **INIT,
        recps=array(GROUP, FEED, minItems=2, maxItems=2),
        tangles=record(group=UPDATE, epoch=UPDATE, members=ROOT),
    ),
    ADD: record(
        optional={"oldSecrets": array(SECRET), "text": {"type": "string"}},
        **INIT | {"type": {"const": "group/add-member"}},
        root=MESSAGE,
        creator=FEED,
        recps=array(GROUP, additionalItems=FEED, minItems=2, maxItems=16),
        tangles=record(False, group=UPDATE, members=UPDATE),
    ),
    EXCLUDE: record(
        type={"const": "group/exclude-member"},
        excludes=array(FEED, minItems=1),
        recps=array(GROUP, minItems=1, maxItems=1),
        tangles=record(group=UPDATE, members=UPDATE),
    ),
}


def accepts(schema, value):
    return Draft7Validator(schema).is_valid(value)


with gzip.open(DATA / "groups" / "epochs.jsonl.gz", "rt", encoding="utf-8") as lines:
    CASES = list(map(json.loads, lines))
CONTENTS = [message["value"]["content"] for case in CASES[:15] for message in case["messages"]]


def content_of(kind):
    """Return a valid content of a kind, free to change."""
    return copy.deepcopy(next(content for content in CONTENTS if group_claim(content).kind == kind))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "v2", "v1", "group/init", "x\n"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["root", "previous", "x"]), inner),
    max_leaves=4,
)


@st.composite
def mutated(draw):
    content = copy.deepcopy(draw(st.sampled_from(CONTENTS)))
    for _ in range(draw(st.integers(0, 2))):
        *path, last = draw(st.sampled_from([p for p in places(content) if p]))
        holder = content
        for key in path:
            holder = holder[key]
        how = draw(st.sampled_from(["drop", "set", "newline", "append", "key", "repeat", "move"]))
        if how == "drop":
            del holder[last]
        elif how == "set":
            holder[last] = draw(JSON)
        elif how == "newline" and isinstance(holder[last], str):
            holder[last] += draw(st.sampled_from(["\n", "=", " ", "\ud800"]))
        elif how == "append" and isinstance(holder[last], list):
            holder[last].append(draw(JSON))
        elif how == "repeat" and isinstance(holder[last], list):
            holder[last] = holder[last] * draw(st.sampled_from([2, 3, 8]))
        elif how == "key" and isinstance(holder[last], dict):
            holder[last][draw(st.sampled_from(["x", "text", "oldSecrets", "secret"]))] = draw(JSON)
        elif how == "move":
            other = draw(st.sampled_from(CONTENTS))
            if isinstance(last, str) and last in other:
                holder[last] = copy.deepcopy(other[last])
    return content


def unchecked(content):
    """Count the entries that do not match the pattern of the first entry of their list."""
    lists = [(FEED, content.get("excludes", [])), (SECRET, content.get("oldSecrets", []))]
    if content["type"] == "group/init":
        names = ["group", "epoch"] if "recps" in content else []
    else:
        names = ["group", "members"]
    lists += [(MESSAGE, content["tangles"][name]["previous"]) for name in names]
    return sum(not accepts(schema, entry) for schema, entries in lists for entry in entries)


@given(mutated())
def test_messages_are_judged_as_the_schemas_say(content):
    """Kind, validity, key and count of messages that are nearly valid."""
    message = group_claim(content)
    accepted = [kind for kind, schema in SCHEMAS.items() if accepts(schema, content)]
    if message is None:
        assert accepted == []
        assert epoch_key(content, None) is None
        return
    assert accepted == ([message.kind] if message.invalid_reason is None else []), message
    is_begun = message.invalid_reason is None and message.kind in INITS
    assert epoch_key(content, message) == (b64decode(content["secret"]) if is_begun else None)
    if message.invalid_reason is None:
        assert message.unchecked_count == unchecked(content)
    else:
        assert message == type(message)(message.kind, message.invalid_reason)


def test_peers_accept_the_same_messages():
    judged = [
        (
            group_claim(message["value"]["content"]).invalid_reason is None,
            case["expected"]["schemaValid"][message["key"]],
        )
        for case in CASES
        for message in case["messages"]
    ]
    assert len(judged) == 1415
    assert {*judged} == {(True, True), (False, False)}


@given(
    JSON
    | st.builds(
        lambda kind, content: {**content, "type": kind},
        st.sampled_from(["group/init", "group/add-member", "group/exclude-member", 1]),
        st.dictionaries(st.sampled_from(["tangles", "secret", "oldSecrets", "excludes", "recps", "version"]), JSON),
    )
)
def test_no_value_raises(content):
    epoch_key(content, group_claim(content))


def test_an_epoch_init_names_its_previous_epochs():
    """Ids in the sigil form, repeated as listed, null for values that are not ids."""
    content = content_of(EPOCH_INIT)
    previous = content["tangles"]["epoch"]["previous"][:1]
    content["tangles"]["epoch"]["previous"] = [*previous, 7, "junk", *previous]
    message = group_claim(content)
    sigil = "%" + previous[0].rpartition("/")[2].replace("-", "+").replace("_", "/") + ".sha256"
    assert message.previous_epochs == [sigil, None, None, sigil]
    assert (message.group_uri, message.author_root) == tuple(content["recps"])
    assert message.epoch_root.startswith("%") and message.group_root.startswith("%")
    assert (message.epoch_id, message.feeds, message.unchecked_count) == (None, (), 2)


def test_list_entries_that_peers_do_not_check_are_counted():
    content = content_of(EXCLUDE)
    feed = content["excludes"][0]
    content["excludes"] = [feed, 5, "anyone", feed, None]
    content["tangles"]["members"]["previous"] = [*content["tangles"]["members"]["previous"][:1], {"a": 1}, "junk"]
    message = group_claim(content)
    assert message.invalid_reason is None
    assert message.feeds == (feed, "anyone")
    assert message.unchecked_count == 5
    add = content_of(ADD)
    add["oldSecrets"] = [add["secret"], "junk", None]
    assert group_claim(add).unchecked_count == 2


def broken(kind):
    """Return ways to break exactly one rule of a kind, by reason."""

    def put(*path, value):
        def change(content):
            *inner, last = path
            for key in inner:
                content = content.get(key, {})
            content[last] = value

        return change

    ways = {
        GroupReason.UNKNOWN_KEY: put("x", value=1),
        GroupReason.BAD_RECPS_COUNT: put("recps", value=[]),
        GroupReason.BAD_TANGLES: put("tangles", value=[]),
        GroupReason.BAD_GROUP_TANGLE: put("tangles", "group", "previous", value=5),
        GroupReason.UNKNOWN_TANGLE: put("tangles", "x", value={}),
        GroupReason.BAD_MEMBERS_TANGLE: put("tangles", "members", value=None),
    }
    if kind != EXCLUDE:
        ways[GroupReason.BAD_VERSION] = put("version", value="v1")
        ways[GroupReason.BAD_SECRET] = put("secret", value="x")
    if kind in INITS:
        ways[GroupReason.BAD_EPOCH_TANGLE] = put("tangles", "epoch", value=None)
    if kind == ROOT_INIT:
        del ways[GroupReason.BAD_RECPS_COUNT]
        del ways[GroupReason.BAD_TANGLES]  # without tangles, it would be an epoch's
    else:
        ways[GroupReason.BAD_RECPS] = lambda content: content["recps"].__setitem__(0, "x")
    if kind == EXCLUDE:
        ways[GroupReason.BAD_EXCLUDES] = put("excludes", value=[5])
    if kind == ADD:
        del ways[GroupReason.UNKNOWN_TANGLE]
        ways[GroupReason.BAD_OLD_SECRETS] = put("oldSecrets", value=["x"])
        ways[GroupReason.BAD_ROOT] = put("root", value=None)
        ways[GroupReason.BAD_CREATOR] = put("creator", value="x\n")
        ways[GroupReason.BAD_TEXT] = put("text", value=None)
    return ways


@pytest.mark.parametrize("kind", list(SCHEMAS))
def test_the_first_of_several_reasons_counts(kind):
    ways = broken(kind)
    for reason in ways:
        content = content_of(kind)
        ways[reason](content)
        assert group_claim(content) == type(group_claim(content))(kind, reason)
    # One value cannot be broken in two ways, and a message without tangles has no broken tangle.
    rival = {
        GroupReason.BAD_RECPS_COUNT: {GroupReason.BAD_RECPS},
        GroupReason.BAD_TANGLES: {reason for reason in GroupReason if reason.rank > GroupReason.BAD_TANGLES.rank},
    }
    for first, second in itertools.combinations(sorted(ways, key=lambda reason: reason.rank), 2):
        if second in rival.get(first, ()):
            continue
        content = content_of(kind)
        ways[second](content)
        ways[first](content)
        assert group_claim(content).invalid_reason is first, (first, second)


URI, SIGIL = "ssb:message/classic/" + "A" * 43 + "=", "%" + "A" * 43 + "=.sha256"


@pytest.mark.parametrize(
    "spelling",
    [
        *(URI.replace("classic", kind) for kind in ("sha256", "bendybutt-v1")),
        *(URI.replace("ssb:", "ssb://"), URI.rstrip("="), URI[:-2] + "B=", URI + "\n", " " + URI, SIGIL),
    ],
)
def test_other_spellings_of_an_id(spelling):
    content = content_of(EXCLUDE)
    content["tangles"]["members"]["root"] = spelling
    assert group_claim(content).invalid_reason is GroupReason.BAD_MEMBERS_TANGLE
    content["tangles"]["members"]["root"] = URI
    assert group_claim(content).invalid_reason is None


KEY = b64encode(b"k" * 32).decode()
OTHER_KEYS = (b"k" * 32).hex(), KEY.rstrip("="), KEY[:-2] + "B=", KEY + "\n", [KEY], "\ud800", "A" * 1_000_000


@pytest.mark.parametrize("spelling", [*OTHER_KEYS, b64encode(b"k" * 33).decode(), b64encode(b"k" * 31).decode()])
@pytest.mark.parametrize("kind", [ROOT_INIT, EPOCH_INIT, ADD])
def test_other_spellings_of_a_key(kind, spelling):
    content = content_of(kind) | {"secret": spelling}
    assert group_claim(content).invalid_reason is GroupReason.BAD_SECRET


def test_every_reason_is_given():
    assert set().union(*map(broken, SCHEMAS)) == set(GroupReason)


def test_converted_strings_stay_apart_from_codes():
    content = content_of(ADD)
    content["recps"] = [*content["recps"][:2], content["recps"][1][:-2] + "A="]
    message = group_claim(content)
    assert len(message.feeds) == 2
    converted = message.with_strings(lambda string: "x")
    assert converted == message._replace(group_uri="x", group_root="x", epoch_id="x", feeds=("x",))


OTHER = "%" + "B" * 42 + "A=.sha256"
NULL_TANGLE = {"root": None, "previous": None}
FOLLOWS = {"root": SIGIL, "previous": [OTHER]}
OF_DOCUMENT = {
    ROOT_INIT: {"type": "group/init", "tangles": {"group": NULL_TANGLE, "epoch": NULL_TANGLE, "members": NULL_TANGLE}},
    EPOCH_INIT: {"type": "group/init", "tangles": {"group": FOLLOWS, "epoch": FOLLOWS, "members": NULL_TANGLE}},
    ADD: {"type": "group/add-member", "add": ["@a", "@b", "@a"], "tangles": {"group": FOLLOWS, "members": FOLLOWS}},
    EXCLUDE: {"type": "group/exclude-member", "exclude": "@c", "tangles": {"group": FOLLOWS, "members": FOLLOWS}},
}


@pytest.mark.parametrize("kind", OF_DOCUMENT)
def test_contents_of_the_document(kind):
    """Without a key, the recipes of the document judge a content. Seed 000."""
    claim = group_claim(OF_DOCUMENT[kind])
    assert (claim.kind, claim.invalid_reason, claim.key_fingerprint, claim.group_uri) == (kind, None, None, None)
    assert claim.feeds == {ADD: ("@a", "@b"), EXCLUDE: ("@c",)}.get(kind, ())
    assert claim.group_root == (None if kind == ROOT_INIT else SIGIL)
    assert claim.epoch_id == (SIGIL if kind in (ADD, EXCLUDE) else None)
    assert claim.previous_epochs == ([OTHER] if kind == EPOCH_INIT else None)
    assert epoch_key(OF_DOCUMENT[kind], claim) is None


def test_forms_of_a_feed_in_the_document_are_one_feed():
    digest = f"{'-' * 42}A="
    classic = [f"@{'+' * 42}A=.ed25519", f"ssb:feed/ed25519/{digest}", f"ssb:feed/classic/{digest}"]
    metafeed = [f"@{'+' * 42}A=.bbfeed-v1", f"ssb:feed/bendybutt-v1/{digest}", f"ssb://feed/bendybutt-v1/{digest}"]
    claim = group_claim(OF_DOCUMENT[ADD] | {"add": [*classic, "@a", *metafeed, "ssb:feed/x"]})
    assert claim.feeds == (classic[0], "@a", metafeed[1], "ssb:feed/x")


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (ROOT_INIT, {"secret": "short"}),
        (ADD, {"oldSecrets": 7}),
        (ADD, {"tangles": {"group": FOLLOWS}}),
        (ADD, {"tangles": {"group": FOLLOWS, "members": {"root": SIGIL, "previous": []}}}),
        (EXCLUDE, {"tangles": {"group": FOLLOWS, "members": {"root": SIGIL, "previous": [OTHER, 7]}}}),
        (EXCLUDE, {"tangles": {"group": FOLLOWS, "members": {"root": URI, "previous": [OTHER]}}}),
        (EPOCH_INIT, {"tangles": {"group": FOLLOWS, "epoch": NULL_TANGLE, "members": NULL_TANGLE}}),
    ],
)
def test_contents_that_mix_both_forms_are_judged_as_peers_do(kind, change):
    assert group_claim(OF_DOCUMENT[kind] | change).invalid_reason is not None


@pytest.mark.parametrize("group", [[], ["ssb:identity/group/g="], ["%g.cloaked"]])
def test_recipients_of_the_document_are_the_added_feeds(group):
    content = {key: value for key, value in OF_DOCUMENT[ADD].items() if key != "add"}
    claim = group_claim(content | {"version": "v2", "recps": [*group, "@a", "@b"]})
    assert (claim.invalid_reason, claim.feeds, claim.group_uri) == (None, ("@a", "@b"), None)
