"""Group secrets never reach a table."""

import base64
import copy
import hashlib
import json
import math
import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.formats.ssb.redact import SECRET_KEYS, Redaction, fingerprint, has_secrets
from fixtures.ssb.author import box
from group_kit import ADD, EPOCH_INIT, EXCLUDE, PO_BOX, RAW, ROOT_INIT, SECRET, VERSION_1, feed, fingerprint_of, places
from ssb_kit import check_one, json_objects, value_of

BOB, FINGERPRINT = feed("bob"), fingerprint_of(SECRET)
# Its base64 contains both letters on which the alphabets differ.
ODD = bytes.fromhex("fb") * 32
ODD_SECRET = base64.b64encode(ODD).decode()
ODD_FINGERPRINT = hashlib.sha256(ODD).hexdigest()[:16]
#: Their printed forms have no part in common.
PRINTED = [json.dumps(content) for content in (ROOT_INIT, EPOCH_INIT, ADD, EXCLUDE, PO_BOX, VERSION_1)]


def redact(content):
    return Redaction(content).value(content)


def forms(raw):
    plain, url = base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode()
    digits = raw.hex()
    mixed = "".join(digit.upper() if place % 3 else digit for place, digit in enumerate(digits))
    return [plain, plain[:-1], url, url[:-1], digits, digits.upper(), mixed]


def strings_of(value):
    """List all strings of a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | dict):
        yield from (text for entry in value for text in strings_of(entry))
        if isinstance(value, dict):
            yield from (text for entry in value.values() for text in strings_of(entry))


def holds(value, raw):
    """Whether a value contains a secret in any form."""
    letters = forms(raw)[1]
    return any(
        letters in text.replace("-", "+").replace("_", "/") or raw.hex() in text.lower() for text in strings_of(value)
    )


@pytest.mark.parametrize("secret", ["", "x", SECRET[:-1], SECRET + "\n", SECRET[:42] + "9=", "é\ud800", "A" * 44])
def test_fingerprints_of_other_strings_hash_their_text(secret):
    raw = secret.encode("utf-8", "surrogatepass")
    assert fingerprint(secret) == hashlib.sha256(raw).hexdigest()[:16]


@pytest.mark.parametrize("key", sorted(SECRET_KEYS))
@pytest.mark.parametrize("nest", [lambda x: x, lambda x: {"a": [[x]]}, lambda x: {SECRET: {"tangles": x}}])
def test_values_under_secret_keys_are_hidden_at_any_depth(key, nest):
    """In any form: strings and those of an array become fingerprints, other values null."""
    for entry, hidden in [
        ("hunter2", fingerprint("hunter2")),
        (SECRET, FINGERPRINT),
        ([SECRET, "x", 7, [SECRET], {"a": SECRET}], [FINGERPRINT, fingerprint("x"), None, None, None]),
        ({"a": SECRET}, None),
        (None, None),
        (7, None),
        (True, None),
    ]:
        redacted = redact({"type": "group/init", "x": nest({key: entry})})
        assert redacted["x"] == json.loads(json.dumps(nest({key: hidden})).replace(SECRET, FINGERPRINT)), entry


@pytest.mark.parametrize("text", ["%" + SECRET, SECRET + ".sha256", SECRET[:-1], SECRET[:42] + "9=", "x" + SECRET])
def test_longer_strings_with_32_bytes_are_not_secrets(text):
    content = {"type": "group/x", "a": text}
    assert redact(content) is content


@pytest.mark.parametrize("form", forms(ODD))
@pytest.mark.parametrize("before", ["", "see ", "ssb:message/classic/", "%", "ab"])
@pytest.mark.parametrize("after", ["", ".", "ab", "==", "\ud800", SECRET])
def test_secrets_are_found_within_strings_and_keys(form, before, after):
    content = {"type": "group/x", "key": ODD_SECRET, "other": SECRET, "a": [before + form + after], before + form: 1}
    redacted = redact(content)
    assert redacted["key"] == ODD_FINGERPRINT
    assert redacted["a"][0].startswith(before + ODD_FINGERPRINT)
    if after == "ab" or "=" in form:
        assert redacted["a"][0] == before + ODD_FINGERPRINT + after.replace(SECRET, FINGERPRINT)
    assert list(redacted)[4].startswith(before + ODD_FINGERPRINT)
    assert not holds(redacted, ODD)
    assert not holds(redacted, RAW)


@pytest.mark.parametrize("key", sorted(SECRET_KEYS))
@pytest.mark.parametrize("form", forms(ODD))
def test_every_spelling_under_secret_keys_is_a_secret(key, form):
    """32 bytes found there in any spelling are also searched elsewhere."""
    for entry in (form, [form]):
        redacted = redact({"type": "group/x", key: entry, "a": f"it is {ODD_SECRET}", "b": ODD.hex()})
        assert (redacted["a"], redacted["b"]) == (f"it is {ODD_FINGERPRINT}", ODD_FINGERPRINT)
        assert not holds(redacted, ODD)


def test_secrets_that_overlap_are_covered_as_a_whole():
    """The second is covered completely by the first's fingerprint; adjacent secrets stay separate."""
    zeros = base64.b64encode(bytes(32)).decode()
    second = SECRET[20:43] + zeros[:20]
    raw = base64.b64decode(second + "=")
    content = {"type": "group/x", "keys": [SECRET, second + "=", zeros]}
    for text, expected in [
        (SECRET[:43] + zeros[:20], FINGERPRINT),
        ("A" * 200, fingerprint(zeros)),
        ("0" * 200, fingerprint(zeros)),
        (SECRET[:43] + RAW.hex() + SECRET, FINGERPRINT * 3),
    ]:
        redacted = redact({**content, "a": f"<{text}>"})
        assert redacted["a"] == f"<{expected}>"
        assert not holds(redacted, raw)


def test_a_secret_within_overlapping_secrets_is_covered():
    """Hexadecimal digits amid two overlapping base64 texts: the last end counts."""
    text = "AAAAA12345" + "B" * 32 + "A" + "B" * 39 + "8"
    first, second, within = text[:43] + "=", text[40:] + "=", bytes.fromhex(text[10:74])
    content = {"type": "group/x", "keys": [first, second, base64.b64encode(within).decode()], "a": f"<{text}>"}
    assert redact(content)["a"] == f"<{fingerprint(first)}>"


def test_keys_that_become_equal_are_one():
    """As a duplicate key in JSON: the position of the first, the value of the last."""
    content = {"type": "group/x", "a": {SECRET: 1, "b": 2, RAW.hex(): 3, FINGERPRINT: SECRET}}
    redacted = redact(content)
    assert list(redacted["a"].items()) == [(FINGERPRINT, FINGERPRINT), ("b", 2)]


@given(json_objects)
def test_contents_without_secrets_are_left_alone(content):
    if not SECRET_KEYS & set(strings_of(content)):
        assert redact(content) is content


@given(json_objects)
def test_values_without_secrets_are_unchanged(content):
    redacted = redact({"key": SECRET, "x": content})
    assert json.dumps(redacted) == json.dumps({"key": FINGERPRINT, "x": content})


def test_odd_values_survive():
    content = {"type": "group/x", "a": [math.nan, math.inf, 10**400, "\ud800" + SECRET], "\udfff": None, "key": SECRET}
    redacted = redact(content)
    assert math.isnan(redacted["a"][0])
    assert redacted["a"][1:] == [math.inf, 10**400, "\ud800" + FINGERPRINT]
    assert list(redacted) == list(content)


@pytest.mark.parametrize("depth", [10_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_any_depth_is_redacted(depth):
    deep = SECRET
    for _ in range(depth):
        deep = [deep]
    redacted = redact({"type": "group/x", "a": deep})["a"]
    while type(redacted) is list:
        (redacted,) = redacted
    assert redacted == FINGERPRINT
    nested = '{"a":[' * (depth // 2) + f'"{SECRET}"' + "]}" * (depth // 2)
    line = f'{{"author":"x","sequence":1,"content":{{"type":"group/x","a":{nested}}}}}'
    content = check_one(line.encode(), verify_signatures=False)["content"]
    assert FINGERPRINT in content
    assert SECRET not in content


@pytest.mark.parametrize("place", ["entries", "keys", "one string", "overlapping"])
def test_time_is_linear(place):
    """2 MiB with 40,000 secrets."""
    secrets = [base64.b64encode(os.urandom(32)).decode() for _ in range(40_000)]
    content = {"type": "group/x", "a": secrets}
    if place == "keys":
        content = {"type": "group/x", "a": dict.fromkeys(secrets, secrets[0])}
    elif place == "one string":
        content = {"type": "group/x", "a": secrets[:20_000], "b": "".join(secret[:-1] for secret in secrets[:20_000])}
    elif place == "overlapping":
        content = {"type": "group/x", "a": base64.b64encode(bytes(32)).decode(), "b": "A" * 2**20, "c": "0" * 2**20}
    start = time.process_time()
    redacted = redact(content)
    assert time.process_time() - start < 10
    text = json.dumps(redacted)
    assert len(text) < 1_700_000
    assert not any(secret[:43] in text for secret in secrets[:50])


def test_only_group_contents_hold_secrets():
    """A post may use the word `secret` for another purpose."""
    for content in [{"type": "group/init"}, [[], ["x", [{"type": "group/"}]]]]:
        assert has_secrets(content)
    for content in (*({"type": kind} for kind in ("post", "group", 7, None)), {}, "group/", ["group/"], [{}], None):
        assert not has_secrets(content)
    content = {"type": "post", "secret": SECRET, "key": SECRET}
    assert json.loads(check_one(value_of(content))["content"]) == content


@pytest.mark.parametrize("line_tail", ["", ',"x":1.0', ',"x":"\\ud800"', f',"x":"{"x" * 40_000}"'])
@pytest.mark.parametrize("options", [{}, {"verify_signatures": False}])
def test_every_kind_of_line_is_redacted(line_tail, options):
    content = f'{{"type":"group/init","secret":"{SECRET}","oldSecrets":["{SECRET}"]{line_tail}}}'
    value = json.dumps(value_of({"type": "post"})).replace('{"type": "post"}', content)
    sealed = json.dumps({"value": value_of(box(b"sealed")), "meta": {"originalContent": box(b"sealed")}})
    opened = sealed.replace(json.dumps(box(b"sealed")), content, 1)
    for line in (value, opened):
        row = check_one(line.encode(), **options)
        shown = json.loads(row["content"])
        assert (shown["secret"], shown["oldSecrets"]) == (FINGERPRINT, [FINGERPRINT])
        assert row["epoch_key"] is None
        assert not holds(list(row.values()), RAW)


@st.composite
def leaky_contents(draw):
    """Contents with secrets at their proper keys and, in any form, elsewhere; and those secrets."""
    content = json.loads(draw(st.sampled_from(PRINTED)))
    secrets = [RAW, *draw(st.lists(st.binary(min_size=32, max_size=32) | st.just(ODD), max_size=2))]
    affixes = st.text("aZ0+/_-=%. :\ud800é", max_size=4)
    for number, raw in enumerate(secrets):
        plain = base64.b64encode(raw).decode()
        # Later entries of a list may be anything, even in messages that peers accept.
        lists = [path for path in places(content) if isinstance(at(content, path), list)]
        if raw != RAW or content["type"] == "group/exclude-member":
            if lists and draw(st.booleans()):
                at(content, draw(st.sampled_from(lists))).append(plain)
            else:
                key = draw(st.sampled_from(["key", "groupKey", plain]))
                content[f"x{number}"] = {key: draw(st.sampled_from([plain, [plain]]))}
        for _ in range(draw(st.integers(0, 3))):
            text = draw(affixes) + draw(st.sampled_from(forms(raw))) + draw(affixes)
            path = draw(st.sampled_from(sorted(places(content), key=str)))
            holder = at(content, path)
            if isinstance(holder, list):
                holder.append(text)
            elif isinstance(holder, dict):
                holder[text] = draw(
                    st.sampled_from([text, 1])
                    | st.builds(lambda name: {"root": name, "previous": [name]}, st.just(text))
                )
            elif path == ("type",):
                content["type"] += text
            elif path[-1] != "secret" and isinstance(holder, str) and not is_secret(holder):
                at(content, path[:-1])[path[-1]] = text
    return content, secrets


def at(content, path):
    for key in path:
        content = content[key]
    return content


def is_secret(text):
    return len(text) == 44 and "=" in text


@given(leaky_contents(), st.sampled_from(["signed", "trusted", "decrypted", "previous"]))
def test_no_form_of_any_secret_is_left(leaky, way):
    content, secrets = leaky
    if way == "decrypted":
        line = {"value": {**value_of(box(b"sealed")), "content": content}, "meta": {"originalContent": box(b"sealed")}}
    elif way == "previous":
        line = value_of(content, previous={"x": [content["type"]], "y": content})
    else:
        line = value_of(content)
    row = check_one(line, verify_signatures=way != "trusted")
    key = row.pop("epoch_key")
    assert key is None or (key == RAW and row["is_usable"] and row["group_claim"]["invalid_reason"] is None)
    if way == "previous":
        assert row["previous_id"].startswith('{"x":')
    for raw in secrets:
        assert not holds(list(row.values()), raw)
    assert FINGERPRINT in row["content"]


def test_group_claims_of_usable_lines():
    wanted = [
        (ROOT_INIT, "root_init", None, RAW),
        (EPOCH_INIT, "epoch_init", None, RAW),
        (ADD, "add", None, None),
        (EXCLUDE, "exclude", None, None),
        (VERSION_1, "add", "bad_version", None),
        ({**ROOT_INIT, "x": 1}, "root_init", "unknown_key", None),
    ]
    for content, kind, reason, key in wanted:
        row = check_one(value_of(content))
        claim = row["group_claim"]
        assert (claim["kind"], claim["invalid_reason"], row["epoch_key"]) == (kind, reason, key)
        assert claim["key_fingerprint"] == (FINGERPRINT if "secret" in content and reason is None else None)
    for content in (PO_BOX, {"type": "post"}, box(b"sealed")):
        row = check_one(value_of(content))
        assert (row["is_usable"], row["group_claim"], row["epoch_key"]) == (True, None, None)


def test_group_claims_hold_no_secret_and_no_surrogate():
    content = copy.deepcopy(EPOCH_INIT)
    content["tangles"]["epoch"]["previous"] += [f"%{SECRET}.sha256", None, "\ud800", RAW.hex()]
    row = check_one(value_of(content))
    assert row["epoch_key"] == RAW
    claim = row["group_claim"]
    assert claim["previous_epochs"][1:] == [f"%{FINGERPRINT}.sha256", None, None, None]
    assert claim["unchecked_count"] == 4
    assert row["claims"][1]["previous"] is None

    content = copy.deepcopy(EXCLUDE)
    content["excludes"] += [SECRET, RAW.hex(), "\ud800", "\ud801", 7]
    claim = check_one(value_of(content))["group_claim"]
    assert claim["feeds"] == [BOB, FINGERPRINT, "\ufffd"]
    assert claim["unchecked_count"] == 5


def test_the_type_and_claims_hold_no_secret():
    """Names of tangles; a root or previous in place of which a fingerprint stands can be no id."""
    content = {
        "type": "group/" + ODD_SECRET[:-1],
        "key": ODD_SECRET,
        "root": "%" + ODD_SECRET,
        "branch": [ODD.hex()],
        "tangles": {ODD_SECRET: {"root": ODD_SECRET, "previous": ["%" + ODD_SECRET + ".sha256"]}},
    }
    row = check_one(value_of(content))
    assert row["content_type"] == "group/" + ODD_FINGERPRINT
    named, legacy = row["claims"]
    assert (named["tangle_name"], named["root_id"], named["previous"]) == (ODD_FINGERPRINT, None, None)
    assert (legacy["root_id"], legacy["previous"]) == (None, None)


def test_previous_as_an_id_stays():
    """A secret chosen to equal an id must not break a feed."""
    previous = "%" + SECRET + ".sha256"
    assert check_one(value_of(ROOT_INIT, previous=previous, sequence=2))["previous_id"] == previous
    row = check_one(value_of({"type": "post"}, previous={"type": "group/x", "key": SECRET}))
    assert row["previous_id"] == f'{{"type":"group/x","key":"{FINGERPRINT}"}}'
