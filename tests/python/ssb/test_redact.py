"""Group secrets never reach a table."""

import base64
import hashlib
import json

import pytest
from ssb_kit import check_one, value_of

from dbt_tangles.ssb.author import box
from dbt_tangles.ssb.redact import fingerprint, has_secrets, redact

RAW = bytes(range(32))
SECRET = base64.b64encode(RAW).decode()
FINGERPRINT = hashlib.sha256(RAW).hexdigest()[:16]


def test_fingerprint_is_of_the_bytes_of_the_secret():
    """The first 16 hexadecimal digits of their sha256."""
    assert fingerprint(SECRET) == FINGERPRINT


@pytest.mark.parametrize("secret", ["", "x", SECRET[:-1], SECRET + "\n", SECRET[:42] + "9=", "é\ud800", "A" * 44])
def test_fingerprint_of_what_is_no_key_is_of_its_text(secret):
    """Not canonical base64 of 32 bytes: the text itself is hashed."""
    raw = secret.encode("utf-8", "surrogatepass")
    assert fingerprint(secret) == hashlib.sha256(raw).hexdigest()[:16]


def test_secret_and_old_secrets_are_replaced_in_place():
    """Other fields and their order stay, and so does the content given."""
    content = {"type": "group/add-member", "secret": SECRET, "oldSecrets": [SECRET, "x"], "root": "%x"}
    redacted = redact(content)
    assert redacted == {**content, "secret": FINGERPRINT, "oldSecrets": [FINGERPRINT, fingerprint("x")]}
    assert list(redacted) == list(content)
    assert content["secret"] == SECRET


@pytest.mark.parametrize("secret", [None, 7, True, {"a": SECRET}, [SECRET]])
def test_what_is_no_string_becomes_null(secret):
    """There is nothing to take a fingerprint of, and a secret may hide in it."""
    assert redact({"type": "group/init", "secret": secret})["secret"] is None
    assert redact({"type": "group/init", "oldSecrets": [SECRET, secret]})["oldSecrets"] == [FINGERPRINT, None]
    if type(secret) is not list:
        assert redact({"type": "group/init", "oldSecrets": secret})["oldSecrets"] is None


def test_old_secrets_as_one_string_are_a_secret():
    """Whatever the shape, no string stays."""
    assert redact({"type": "group/init", "oldSecrets": SECRET})["oldSecrets"] == FINGERPRINT


def test_only_group_contents_hold_secrets():
    """A post may say `secret` and mean something else."""
    assert has_secrets({"type": "group/init"})
    for content in [{"type": "post"}, {"type": "group"}, {"type": 7}, {"type": None}, {}, "group/", ["group/"], None]:
        assert not has_secrets(content)


@pytest.mark.parametrize("line_tail", ["", ',"x":1.0', ',"x":"\\ud800"', f',"x":"{"x" * 40_000}"'])
@pytest.mark.parametrize("options", [{}, {"verify_signatures": False}])
def test_kernel_redacts_whatever_becomes_of_the_line(line_tail, options):
    """Signed or forged, plain or decrypted, parsed in either way."""
    content = f'{{"type":"group/init","secret":"{SECRET}","oldSecrets":["{SECRET}"]{line_tail}}}'
    value = json.dumps(value_of({"type": "post"})).replace('{"type": "post"}', content)
    sealed = json.dumps({"value": value_of(box(b"sealed")), "meta": {"originalContent": box(b"sealed")}})
    opened = sealed.replace(json.dumps(box(b"sealed")), content, 1)
    for line in (value, opened):
        row = check_one(line.encode(), **options)
        shown = json.loads(row["content"])
        assert (shown["secret"], shown["oldSecrets"]) == (FINGERPRINT, [FINGERPRINT])
        assert SECRET not in json.dumps(row)
