"""Helpers for the tests of the SSB kernel: signed values, and lines run through the kernel."""

import json
from functools import partial

from hypothesis import strategies as st

import log_files
from dbt_tangles.formats.json.printing import canonical_text
from dbt_tangles.formats.ssb.verify_lines import OUTPUT_SCHEMA, VerifyOptions, verify_batches
from fixtures.ssb.author import Author
from log_lines import verified

DATA = log_files.DATA / "ssb"

ALICE = Author.from_seed("alice")
NOW = 1_500_000_000_000
POST = {"type": "post", "text": "hello"}

#: The order of the group of ed25519's base point.
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493


def check(lines, **options):
    """Run lines through the kernel; return its rows as dicts."""
    return verified(partial(verify_batches, options=VerifyOptions(**options)), OUTPUT_SCHEMA, lines)


def check_one(line, **options):
    """Run one line (bytes, or a document to print) through the kernel; return its row."""
    return check([line if type(line) is bytes else json.dumps(line).encode()], **options)[0]


def value_of(content=POST, author=ALICE, **fields):
    """Sign a value; fields given by name replace the usual ones."""
    usual = {"previous": None, "sequence": 1, "author": author.feed_id, "timestamp": NOW, "hash": "sha256"}
    return author.sign({**usual, "content": content, **fields}, NOW)["value"]


def value_of_units(units, filler):
    """Sign a value with a canonical text of so many UTF-16 units, filled with a string of `filler` and some x."""

    def length(text):
        printed = canonical_text(value_of({"type": "post", "text": text}))
        return len(printed.encode("utf-16-le")) // 2

    room = units - length("")
    step = length(filler) - length("")
    text = filler * (room // step)
    text += "x" * (units - length(text))
    assert length(text) == units
    return value_of({"type": "post", "text": text})


def read_lines(name):
    return log_files.read_lines(f"ssb/{name}")


def read_expected(name):
    """Read the peers' answers, one JSON object a line."""
    return log_files.read_cases(f"ssb/{name}")


# Values at and around every limit between numbers that orjson and V8 print alike and differently.
numbers = st.one_of(
    st.integers(),
    st.integers(-(2**54), 2**54),
    st.floats(allow_nan=False, allow_infinity=False),
    st.builds("{}e{}".format, st.sampled_from([1, 1.5, 9.99]), st.integers(-330, 307)).map(float),
    st.sampled_from([0.0, -0.0, 1.0, 1e15, 1e16, 1e21, 1e-4, 1e-5, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308]),
    st.sampled_from([2**53, 2**53 + 1, 2**64]),
)
INDEXES = ["0", "1", "10", "9", "4294967294"]
NO_INDEXES = ["01", "-1", "1.5", "4294967295", "99999999999", "__proto__", "", "٣"]
names = st.text(max_size=4) | st.sampled_from([*INDEXES, *NO_INDEXES])
scalars = st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=8))
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4), max_leaves=12
)
json_objects = st.dictionaries(names, json_values, max_size=5)
