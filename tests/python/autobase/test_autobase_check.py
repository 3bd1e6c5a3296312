"""The Arrow kernel of Autobase logs: one row for each line, for every possible line."""

import pytest

from autobase_lines import (
    BASE,
    MAX,
    NODE,
    ODD_WRITERS,
    RESULT,
    A,
    B,
    C,
    D,
    check,
    row_of,
    to_line,
    to_pairs,
)


def refused(line):
    """Return the reason, the detail and the known columns of a refused line."""
    row = row_of(line)
    return tuple(row[name] for name in ("reject_reason", "detail", "base_id", "kind", "writer", "length"))


def text_of(value_text, before=b""):
    """Return the text of a value, given as the bytes of its JSON."""
    return row_of(b'{%b"base":"b","writer":"%b","length":1,"heads":[],"value":%b}' % (before, A.encode(), value_text))[
        "value"
    ]


@pytest.mark.parametrize(
    ("document", "columns"),
    [
        (
            NODE,
            {
                "kind": "node",
                "writer": A,
                "length": 3,
                "heads": [{"writer": B, "length": 2}, {"writer": C, "length": 1}],
                "batch": 2,
                "value": '{"a":[true],"z":1}',
                "is_ack": False,
            },
        ),
        (
            BASE,
            {
                "kind": "base",
                "indexers": [A, B],
                "relayed": [C, D],
                "start": [{"writer": A, "length": 0}, {"writer": B, "length": 4}],
            },
        ),
    ],
    ids=["node", "base"],
)
def test_every_column(document, columns):
    """The slow reader, of lines that orjson refuses, reads the same."""
    row = dict.fromkeys(RESULT) | {"base_id": "b"} | columns
    line = to_line(document)
    assert row_of(line) == row
    for odd in (rb'["\ud800",1e400,"\\\"]}"]', b"[" * 9000 + b"]" * 9000):
        assert row_of(b'{"x":' + odd + b"," + line[1:]) == row


NO_BASE_ID = "base is not a non-empty string"
NO_INDEXERS = "indexers is not a list"
NO_RELAYED = "relayed is not a list"
NO_WRITER = "writer is not 64 hex digits"
NO_LENGTH = "length is not a whole number from 1"
NO_BATCH = "batch is not a whole number from 1"
NO_HEAD = "a head is not a writer and a length"
NOT_BEFORE = "a head is the node itself or a later one of its writer"
ODD_LENGTHS = [0, -1, 0.5, 1.5, 1e300, MAX + 1, 2**32 + 1, 2**63, 2**64 + 1, True, "1", [1], {}]
ODD_VALUES = [7, 0, False, "", "a", {}]


@pytest.mark.parametrize(
    ("fields", "reason", "detail"),
    [
        ({"base": ...}, "no_base", "no base"),
        ({"base": None}, "no_base", "no base"),
        *(
            ({"base": odd}, "no_base", NO_BASE_ID)
            for odd in ("", 7, True, ["b"], {"b": 1}, "\ud800", "b\udfff", "😀\ud83d")
        ),
        *(({"indexers": odd}, "neither", "neither a base nor a node") for odd in (..., None)),
        *(({"indexers": odd}, "bad_indexers", NO_INDEXERS) for odd in (*ODD_VALUES, A, {A: 1})),
        *(
            ({"indexers": [B, odd]}, "bad_indexers", "an entry of indexers is not 64 hex digits")
            for odd in (*ODD_WRITERS, None, 7, [A], {}, "\ud800" * 64)
        ),
        *(({"relayed": odd}, "bad_relayed", NO_RELAYED) for odd in (*ODD_VALUES, C)),
        *(
            ({"relayed": [odd, C]}, "bad_relayed", "an entry of relayed is not 64 hex digits")
            for odd in (*ODD_WRITERS, None, 7, [], {})
        ),
        *(
            ({"relayed": odd}, "bad_roles", "a writer is in both indexers and relayed")
            for odd in ([A], [C, B], [B.upper()])
        ),
        *(({"start": odd}, "bad_start", "start is not an object") for odd in (7, "", [], [[A, 1]], False)),
        *(
            ({"start": {A: 1, odd: 1}}, "bad_start", "start names something other than 64 hex digits")
            for odd in (*ODD_WRITERS, "\ud800")
        ),
        ({"start": {B: 1, B.upper(): 1}}, "bad_start", "start has two lengths of one writer"),
        *(
            ({"start": {A: 1, B: odd}}, "bad_start", "a length in start is not a whole number from 0")
            for odd in (*ODD_LENGTHS[1:], None, -0.5)
        ),
        ({"indexers": 7, "relayed": 7, "start": 7}, "bad_indexers", NO_INDEXERS),
        ({"relayed": 7, "start": 7}, "bad_relayed", NO_RELAYED),
        ({"relayed": [A], "start": 7}, "bad_roles", "a writer is in both indexers and relayed"),
    ],
)
def test_bases_that_are_refused(fields, reason, detail):
    base_id, kind = None if reason == "no_base" else "b", None if reason == "neither" else "base"
    assert refused(to_line(BASE, **fields)) == (reason, detail, base_id, kind, None, None)


@pytest.mark.parametrize(
    ("fields", "reason", "detail"),
    [
        ({"base": ...}, "no_base", "no base"),
        *(({"base": odd}, "no_base", NO_BASE_ID) for odd in ("", 7, False, [], {}, "\ud800")),
        *(({"writer": odd}, "bad_writer", "no writer") for odd in (..., None)),
        *(({"writer": odd}, "bad_writer", NO_WRITER) for odd in (*ODD_WRITERS, 7, False, [A], {}, "\ud800" * 64)),
        *(({"length": odd}, "bad_length", "no length") for odd in (..., None)),
        *(({"length": odd}, "bad_length", NO_LENGTH) for odd in (*ODD_LENGTHS, 10**400)),
        *(({"heads": odd}, "bad_heads", "no heads") for odd in (..., None)),
        *(({"heads": odd}, "bad_heads", "heads is not a list") for odd in ODD_VALUES),
        *(
            ({"heads": [[C, 1], odd]}, "bad_heads", NO_HEAD)
            for odd in (None, 7, B, [], [B], [B, 1, 1], {"writer": B, "length": 1}, [1, B], [None, 1], [[B], 1], "ab")
        ),
        *(({"heads": [[odd, 1]]}, "bad_heads", NO_HEAD) for odd in ODD_WRITERS),
        *(({"heads": [[B, odd]]}, "bad_heads", NO_HEAD) for odd in (*ODD_LENGTHS, None)),
        *(
            ({"heads": odd}, "bad_heads", "two heads are of one writer")
            for odd in ([[B, 1], [B, 2]], [[B, 1], [C, 1], [B, 1]], [[B, 1], [B.upper(), 1]], [[A, 1], [A, 2]])
        ),
        *(({"heads": odd}, "bad_heads", NOT_BEFORE) for odd in ([[A, 3]], [[B, 1], [A, 4]], [[A.upper(), MAX]])),
        *(({"batch": odd}, "bad_batch", NO_BATCH) for odd in ODD_LENGTHS),
        ({"writer": 7, "length": 0, "heads": 7, "batch": 0}, "bad_writer", NO_WRITER),
        ({"length": 0, "heads": 7, "batch": 0}, "bad_length", NO_LENGTH),
        ({"heads": 7, "batch": 0}, "bad_heads", "heads is not a list"),
    ],
)
def test_nodes_that_are_refused(fields, reason, detail):
    """The first error is the reason; the readable parts of base, writer and length are kept."""
    base_id = None if reason == "no_base" else "b"
    writer, length = None if "writer" in fields else A, None if "length" in fields else 3
    assert refused(to_line(NODE, **fields)) == (reason, detail, base_id, "node", writer, length)


def test_other_keys_are_ignored_and_the_last_of_a_key_counts():
    line = b'{"x":[[]],"base":7,"indexers":[],"start":{"%b":1,"%b":2},"base":"t","detail":"no","kind":1}'
    row = row_of(line % (A.encode(), A.encode()))
    assert (row["base_id"], row["reject_reason"], to_pairs(row["start"])) == ("t", None, [(A, 2)])
    assert row_of(to_line(NODE, indexers=7, start=7, detail="no"))["reject_reason"] is None


@pytest.mark.parametrize(
    ("length", "heads", "read"),
    [
        (1, [], []),
        (3, [], []),
        (3, [[A, 2]], []),
        (3, [[A, 1]], [(A, 1)]),
        (3, [[D, 9], [A, 2], [B, 3], [C, MAX]], [(B, 3), (C, MAX), (D, 9)]),
        (3, [[D, 9], [A, 1], [B, 2]], [(A, 1), (B, 2), (D, 9)]),
        (MAX, [[A, MAX - 1], [B, MAX]], [(B, MAX)]),
    ],
)
def test_heads(length, heads, read):
    """Sorted, and without the implied previous node; alone or among lines with other heads."""
    line = to_line(NODE, length=length, heads=heads)
    row = row_of(line)
    assert (row["reject_reason"], row["length"], to_pairs(row["heads"])) == (None, length, read)
    lines = [to_line(NODE, heads=[]), line, to_line(NODE, heads=[[B, 2]])]
    for listed in (lines, [*lines, to_line(BASE)]):
        assert [to_pairs(row["heads"]) for row in check(listed)][:3] == [[], read, [(B, 2)]]


def nested(depth):
    """Build nested objects, as bytes and as the stored text."""
    return b'{"b":1.0,"a":' * depth + b'{"x":2.50}' + b"}" * depth, '{"a":' * depth + '{"x":2.5}' + ',"b":1}' * depth


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b'"w1:1"', '"w1:1"'),
        (rb'"\u00e9\/\u001f\u007f\ud83d\ude00"', '"é/\\u001f\x7f😀"'),
        (b' { "b" : [ 1 , { } , [ ] ] , "a" : null } ', '{"a":null,"b":[1,{},[]]}'),
        (b'{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'),
        ('{"\U0001f600":1,"\ufffd":2,"é":3,"a":4,"":5}'.encode(), '{"":5,"a":4,"é":3,"\ufffd":2,"😀":1}'),
        (b"9007199254740993", "9007199254740992"),
        (b"1.0", "1"),
        (b"1E0", "1"),
        (b"-0.0", "0"),
        (b"1e21", "1e+21"),
        (b'["1.0","1e0",1.0]', '["1.0","1e0",1]'),
        (b'{"1.0":1.0}', '{"1.0":1}'),
        (b"true", "true"),
        (b"1e400", "1e999"),
        (b"[-1e999,0]", "[-1e999,0]"),
        (b"[-" + b"9" * 5000 + b"]", "[-1e999]"),
        (rb'"\ud800\n\u00e9"', '"\\ud800\\né"'),
        (rb'"\ude00\ud83d\ud83d\ude00"', '"\\ude00\\ud83d😀"'),
        (
            rb'{"\udfff":1,"b":"\\ud800\"","\ud800":2,"a":"[{,:}]"}',
            r'{"a":"[{,:}]","b":"\\ud800\"","\ud800":2,"\udfff":1}',
        ),
        *(
            (b"[" * depth + b"7" + b"]" * depth, "[" * depth + "7" + "]" * depth)
            for depth in (254, 255, 1022, 1024, 5_000)
        ),
        pytest.param(*nested(4_000), id="nested"),
        pytest.param(*nested(20_000), id="nested deep", marks=pytest.mark.long),
    ],
)
def test_values(value, text):
    assert text_of(value) == text
    assert text_of(value, before=rb'"x":"\ud800",') == text
    assert text_of(text.encode()) == text


@pytest.mark.parametrize("share", [10, pytest.param(1, marks=pytest.mark.long)])
def test_a_line_of_the_greatest_length_is_read(share):
    names = [f"{number:064x}" for number in range(25_000 // share)]
    heads = [[name, 7] for name in names]
    deep = "[" * (500_000 // share) + "]" * (500_000 // share)
    value_line = b'{"base":"b","writer":"%b","length":1,"heads":[],"value":%b}'
    numbers, surrogates = 400_000 // share, 300_000 // share
    values = [",".join(["1e15"] * numbers).join("[]"), r"\ud800".join(['"'] + [""] * surrogates + ['"']), deep]
    lines = [
        to_line(NODE, length=9, heads=heads[::-1]),
        to_line(NODE, length=9, heads=[*heads, heads[0]]),
        to_line(BASE, indexers=names[::-1], relayed=None),
        *(value_line % (A.encode(), value.encode()) for value in values),
        b"[" * (2_000_000 // share),
    ]
    rows = check(lines)
    assert [row["reject_reason"] for row in rows] == [None, "bad_heads", None, None, None, None, "malformed_json"]
    assert to_pairs(rows[0]["heads"]) == [(name, 7) for name in names]
    assert rows[2]["indexers"] == names
    assert rows[3]["value"] == ",".join(["1000000000000000"] * numbers).join("[]")
    assert rows[4]["value"] == values[1]
    assert rows[5]["value"] == deep
