"""The Arrow kernel of Autobase logs: random JSON."""

import json
import operator

from hypothesis import given
from hypothesis import strategies as st

from autobase_lines import MAX, ODD_WRITERS, A, B, C, D, check, to_pairs

characters = st.characters(codec="utf-8") | st.sampled_from('\ud800\udfff\ue000\U0001f600"\\/\0\x1f\x7f')
texts = st.text(characters, max_size=4)
numbers = st.integers() | st.integers(-(2**66), 2**66) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
writers = st.sampled_from([A, B, C, D, B.upper()])
lengths = st.sampled_from([1, 2, 3, 4, 9, MAX])
odd_writers = writers | st.sampled_from(ODD_WRITERS)
odd_lengths = lengths | st.sampled_from([0, MAX + 1])
near_node = {
    "base": st.sampled_from("ab"),
    "writer": writers,
    "length": lengths,
    "heads": st.lists(st.tuples(writers, lengths), max_size=4),
    "batch": st.integers(1, 3),
    "value": json_values,
}
near_base = {
    "base": st.sampled_from("ab"),
    "indexers": st.lists(writers, max_size=3),
    "relayed": st.none() | st.lists(writers, max_size=1),
    "start": st.none() | st.dictionaries(writers, st.sampled_from([0, 1, MAX]), max_size=2),
}
odd = {
    "base": texts,
    "writer": odd_writers,
    "length": odd_lengths,
    "heads": st.lists(st.tuples(odd_writers, odd_lengths) | json_values, max_size=2),
    "batch": odd_lengths,
    "indexers": st.lists(odd_writers | json_values, max_size=2),
    "relayed": st.lists(odd_writers | json_values, max_size=2),
    "start": st.dictionaries(odd_writers, odd_lengths | json_values, max_size=2),
}
any_fields = {name: odd.get(name, json_values) | json_values for name in near_node | near_base}
near = st.fixed_dictionaries(near_node, optional={"x": json_values}) | st.fixed_dictionaries(
    near_base, optional={"x": json_values}
)
fields = st.fixed_dictionaries({}, optional=any_fields)
documents = json_values | fields | near | st.builds(operator.or_, near, fields)


def is_text(value):
    try:
        return isinstance(value, str) and value.encode() != b""
    except UnicodeEncodeError:
        return False


def is_writer(value):
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdefABCDEF")


def is_whole(value, least=1):
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and value % 1 == 0 and least <= value < 2**31


def lower_all(values):
    return sorted({value.lower() for value in values})


def expect(document):
    """Classify a document by a literal reading: a base, a node, or a reason."""
    if isinstance(document, list) and document and isinstance(document[0], dict):
        return "json_array"
    if not isinstance(document, dict):
        return "not_an_object"
    has = {name: value for name, value in document.items() if value is not None}
    if not is_text(has.get("base")):
        return "no_base"
    if not has.keys() & {"writer", "length", "heads"}:
        return expect_base(has) if "indexers" in has else "neither"
    if not is_writer(has.get("writer")):
        return "bad_writer"
    if not is_whole(has.get("length")):
        return "bad_length"
    heads, own = has.get("heads"), (has["writer"].lower(), has["length"])
    if not isinstance(heads, list | tuple):
        return "bad_heads"
    for head in heads:
        if not (isinstance(head, list | tuple) and len(head) == 2 and is_writer(head[0]) and is_whole(head[1])):
            return "bad_heads"
    heads = [(writer.lower(), length) for writer, length in heads]
    lengths = dict(heads)
    if len(lengths) < len(heads) or lengths.get(own[0], 0) >= own[1]:
        return "bad_heads"
    if not is_whole(has.get("batch", 1)):
        return "bad_batch"
    return has["base"], *own, sorted(set(heads) - {(own[0], own[1] - 1)}), has.get("batch", 1), has.get("value")


def expect_base(has):
    roles = []
    for name in ("indexers", "relayed"):
        listed = has.get(name, [])
        if not isinstance(listed, list | tuple) or not all(map(is_writer, listed)):
            return f"bad_{name}"
        roles.append(lower_all(listed))
    if set(roles[0]) & set(roles[1]):
        return "bad_roles"
    start = has.get("start")
    if start is None:
        return has["base"], *roles, None
    if not isinstance(start, dict) or not all(is_writer(name) and is_whole(start[name], 0) for name in start):
        return "bad_start"
    if len(lower_all(start)) < len(start):
        return "bad_start"
    return has["base"], *roles, sorted((name.lower(), length) for name, length in start.items())


def with_doubles(text):
    """Parse JSON with JavaScript's numbers, one of which is zero."""
    return json.loads(text, parse_int=to_double, parse_float=to_double)


def to_double(digits):
    return float(digits) + 0.0


@given(listed=st.lists(documents, min_size=1, max_size=5))
def test_any_json(listed):
    lines = [json.dumps(document).encode() for document in listed]
    rows = check(lines)
    for document, line, row in zip(listed, lines, rows, strict=True):
        assert check([line])[0] | {"line": row["line"]} == row
        # Hypothesis draws surrogates one by one; a pair of them is one character in JSON.
        expected = expect(json.loads(line))
        if isinstance(expected, str):
            assert row["reject_reason"] == expected
        elif row["kind"] == "base":
            start = to_pairs(row["start"])
            assert (row["base_id"], row["indexers"], row["relayed"], start) == expected
        else:
            assert (row["base_id"], row["writer"], row["length"]) == expected[:3]
            assert (to_pairs(row["heads"]), row["batch"]) == expected[3:5]
            assert row["is_ack"] == (document.get("value") is None)
            if not row["is_ack"]:
                value = with_doubles(line)["value"]
                assert json.dumps(with_doubles(row["value"])) == json.dumps(value, sort_keys=True)
