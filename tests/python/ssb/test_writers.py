"""The authors whom a root admits: each form of its field, and hostile contents."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.formats.ssb.contents import parse_content
from dbt_tangles.formats.ssb.writers import INPUT_SCHEMA, OUTPUT_SCHEMA, list_writers, named_feeds


def writers_of(*contents: str, field: str | None = "editors", batch: int = 2) -> dict[str, list[str]]:
    """Return the writers of roots, which are numbered and by ann."""
    rows = [
        {"tangle_name": "page", "root_id": str(number), "author": "ann", "writers_field": field, "content": content}
        for number, content in enumerate(contents)
    ]
    found = list(list_writers(iter(pa.Table.from_pylist(rows, INPUT_SCHEMA).to_batches(batch))))
    for each in found:
        each.validate(full=True)
    writers: dict[str, list[str]] = {}
    for row in pa.Table.from_batches(found, OUTPUT_SCHEMA).to_pylist():
        writers.setdefault(row["root_id"], []).append(row["writer"])
    return writers


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("bob", ["bob"]),
        (["bob", 7, None, "cleo", ["dora"]], ["bob", "cleo"]),
        ({"bob": 1, "cleo": -1, "dora": 0, "eve": 0.5}, ["bob", "eve"]),
        ({"bob": {"5": 1, "9": -1}, "cleo": {"5": -1}, "dora": {}, "eve": {"5": "1"}}, ["bob"]),
        ({"bob": True, "cleo": None, "dora": {"since": [1]}}, ["bob", "cleo"]),
        ({"__proto__": 1, "constructor": 1}, ["__proto__", "constructor"]),
        ({"bob": float("nan"), "cleo": float("inf"), "dora": 2**80}, ["cleo", "dora"]),
        (["\ud800", "bob"], ["bob"]),
        (None, []),
        (7, []),
        (True, []),
    ],
)
def test_forms_of_the_field(value, named):
    assert named_feeds({"editors": value, "bob": "x"}, "editors") == named


def test_the_author_of_the_root_always_writes():
    contents = ['{"editors": ["bob", "ann", "bob"]}', "{}", "[]", "", '{"editors": "cleo"}']
    assert writers_of(*contents) == {
        "0": ["ann", "bob"],
        "1": ["ann"],
        "2": ["ann"],
        "3": ["ann"],
        "4": ["ann", "cleo"],
    }
    assert writers_of(contents[0], field=None) == {"0": ["ann"]}


def test_a_star_admits_every_author():
    assert writers_of('{"editors": {"*": {"0": 1}}}', '{"editors": {"*": -1}}', '{"editors": ["bob", "*"]}') == {
        "1": ["ann"]
    }


def test_contents_that_only_javascript_reads():
    deep = '{"editors": ["bob"], "other": ' + "[" * 5000 + "]" * 5000 + "}"
    numbers = '{"editors": {"bob": 1e999, "cleo": -1e999, "\\ud800": 1}}'
    assert writers_of(deep, numbers, '{"editors": ["bob"]') == {"0": ["ann", "bob"], "1": ["ann", "bob"], "2": ["ann"]}
    assert parse_content(deep)["editors"] == ["bob"]


NAMES = st.sampled_from(["ann", "bob", "cleo", "*"])
FIELDS = st.one_of(NAMES, st.lists(NAMES), st.dictionaries(NAMES, st.integers(-1, 1)), st.none())


@given(st.lists(FIELDS, min_size=1, max_size=6), st.integers(1, 4), st.randoms(use_true_random=False))
def test_writers_do_not_depend_on_partitions(fields, batch, random):
    contents = [json.dumps({"editors": field}) for field in fields]
    alone = [writers_of(content).get("0") for content in contents]
    order = random.sample(range(len(contents)), len(contents))
    together = writers_of(*(contents[place] for place in order), batch=batch)
    assert [together.get(str(number)) for number in range(len(order))] == [alone[place] for place in order]
