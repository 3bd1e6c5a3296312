"""Made-up private groups and their measurement, in small. These tests neither time nor start Spark."""

import re
from base64 import b64encode
from collections import Counter, defaultdict
from functools import cache

import pyarrow as pa
import pytest

from bench import __main__ as command
from bench import group_shapes, groups, in_spark, model_runner
from cli_kit import declared
from dbt_tangles.algorithms.private_group.schemas import INPUT_SCHEMA
from dbt_tangles.formats.ssb import verify_lines
from dbt_tangles.formats.ssb.redact import fingerprint
from foreign_oracle import naive_foreign
from group_oracle import oracle
from group_tables import reduced_batches

DIGEST = r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]="
URI_DIGEST = r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]="
SMALL = {"many": 0.002, "one": 0.015}


@cache
def made(name):
    """Return the tables of a shape, in small."""
    return group_shapes.tables(groups.scaled(name, SMALL[name]))


def answer(model, table):
    """Return the output of a model's kernel for shuffled rows."""
    batches = in_spark.shuffled(table).to_batches(1_000)
    return pa.Table.from_batches([*groups.MODELS[model].kernel(iter(batches))], groups.MODELS[model].writes)


def test_shapes_are_as_large_as_they_should_be():
    """100,000 groups of 30 messages, and one of 2,000 epochs, 200,000 adds and 2,000 excludes."""
    many, one = groups.SHAPES["many"], groups.SHAPES["one"]
    assert (many.groups, many.messages()) == (100_000, 30)
    assert (one.groups, one.epochs, one.adds, one.messages()) == (1, 2_000, 200_000, 204_000)
    kinds = Counter(made("many").messages["kind"].to_pylist())
    assert kinds == {"root_init": 200, "epoch_init": 400, "add": 4_400, "exclude": 1_000}
    kinds = Counter(made("one").messages["kind"].to_pylist())
    assert kinds == {"root_init": 1, "epoch_init": 29, "add": 3_000, "exclude": 30}


@pytest.mark.parametrize("name", groups.SHAPES)
def test_every_init_is_an_epoch_and_every_message_counts(name):
    tables = made(name)
    rows = answer("int_group_results", groups.with_keys(tables)).to_pylist()
    epochs = [row for row in rows if row["row_kind"] == "epoch"]
    inits = [row for row in tables.messages.to_pylist() if row["kind"].endswith("init")]
    assert sorted(row["epoch_id"] for row in epochs) == sorted(row["message_id"] for row in inits)
    assert all(row["are_missing_listed"] for row in epochs)
    said = set().union(*(row["added_by"] + row["excluded_by"] for row in rows if row["row_kind"] == "member"))
    assert len(said) + len(inits) == len(tables.messages)


def test_there_is_some_of_everything():
    """Forks, merges and people who are missing, returned, dropped, or added by an unconnected message."""
    rows = answer("int_group_results", groups.with_keys(made("many"))).to_pylist()
    epochs = [row for row in rows if row["row_kind"] == "epoch"]
    assert 8 < sum(row["tip_count"] == 2 for row in epochs) / 3 < 40
    members = [row for row in rows if row["row_kind"] == "member"]
    assert 5 < sum(row["is_added"] and not row["is_member"] for row in members) < 60
    for flag in ("is_missing", "is_returned", "is_excluded"):
        assert any(row[flag] for row in members)
    rows = answer("int_group_results", groups.with_keys(made("one"))).to_pylist()
    assert any(row["row_kind"] == "dropped" for row in rows)
    large = made("one").messages.to_pylist()
    assert any(len(row["previous_epochs"] or []) == 2 for row in large)
    assert max(Counter(each for row in large for each in row["previous_epochs"] or []).values()) == 2
    assert {len(row["feeds"]) for row in large if row["kind"] == "add"} == {1, 2, 3}


@pytest.mark.parametrize("name", groups.SHAPES)
def test_group_tangles_hang_together(name):
    """A message lists earlier messages, all heads that its writer knows, and its depth is its longest path."""
    depth, past = {}, {}
    for row in made(name).links.to_pylist()[:2_000]:
        listed = row["previous"] or []
        assert bool(listed) == (row["message_id"] != row["group_id"]) and len(set(listed)) == len(listed)
        assert row["depth"] == max((depth[each] for each in listed), default=-1) + 1
        below = set().union(*(past[each] for each in listed))
        assert not below & set(listed)
        depth[row["message_id"]], past[row["message_id"]] = row["depth"], below | set(listed)


def test_epochs_are_charged_with_excludes_of_forks_only():
    tables = made("many")
    found = answer("int_group_foreign_excludes", tables.links).to_pylist()
    expected = naive_foreign(tables.links.to_pylist())
    assert {(row["group_id"], row["epoch_id"]): row["message_ids"] for row in found} == expected
    forked = defaultdict(list)
    for row in tables.messages.to_pylist():
        for each in row["previous_epochs"] or []:
            forked[row["group_id"], each].append(row["message_id"])
    branches = {(group_id, e) for (group_id, _), both in forked.items() for e in both if len(both) == 2}
    assert branches and set(expected) == branches


def test_made_groups_equal_the_oracle():
    """Small groups, and one of 15 epochs."""
    shape = groups.SHAPES["one"]._replace(epochs=15, adds=300, circle=30)
    for tables in (group_shapes.tables(groups.scaled("many", 0.0002)), group_shapes.tables(shape)):
        rows = in_spark.shuffled(groups.with_keys(tables)).to_pylist()
        assert reduced_batches(rows, 1_000) == oracle(rows)


def test_a_seed_is_a_shape():
    shape = groups.scaled("many", 0.0001)
    assert group_shapes.tables(shape) == group_shapes.tables(shape)
    assert group_shapes.tables(shape) != group_shapes.tables(shape, seed=2)


def test_groups_do_not_depend_on_how_many_are_made_at_a_time(monkeypatch):
    shape = groups.scaled("many", 0.0003)
    at_once = group_shapes.tables(shape)
    monkeypatch.setattr(group_shapes, "CHUNK", 200)
    assert group_shapes.tables(shape) == at_once and len(at_once.messages) == 30 * shape.groups


def test_ids_look_like_real_ones():
    """Each message has an id of its own; few people recur."""
    tables = made("many")
    ids = tables.messages["message_id"].to_pylist()
    assert len(set(ids)) == len(ids) and all(re.fullmatch(rf"%{DIGEST}\.sha256", each) for each in ids)
    feeds = {feed for row in tables.messages.to_pylist() for feed in [row["author"], *row["feeds"]]}
    assert all(re.fullmatch(f"ssb:feed/bendybutt-v1/{URI_DIGEST}", feed) for feed in feeds)
    uris = {each for each in tables.messages["group_uri"].to_pylist() if each}
    assert len(uris) == 200 and all(re.fullmatch(f"ssb:identity/group/{URI_DIGEST}", each) for each in uris)


def test_lines_agree_with_messages():
    """Only inits have keys, each a different one, and fingerprints are those of the keys."""
    tables = made("many")
    keys = {}
    for message, line in zip(tables.messages.to_pylist(), tables.lines.to_pylist(), strict=True):
        claim, is_init = line["group_claim"], message["kind"].endswith("init")
        assert line["message_id"] == message["message_id"]
        assert claim["epoch_root"] == (message["group_id"] if message["kind"] == "epoch_init" else None)
        assert claim["epoch_id"] == (None if is_init else message["epoch_id"])
        assert all(message[name] == claim[name] for name in claim.keys() & message.keys() - {"epoch_id"})
        assert (line["epoch_key"] is not None) == is_init
        if is_init:
            keys[message["message_id"]] = line["epoch_key"]
            assert claim["key_fingerprint"] == fingerprint(b64encode(line["epoch_key"]).decode())
    assert len(set(keys.values())) == len(keys) == 600
    with_keys = groups.with_keys(groups.group_shapes.Tables(*map(in_spark.shuffled, tables))).to_pylist()
    assert {row["message_id"]: row["epoch_key"] for row in with_keys if row["epoch_key"]} == keys


def test_tables_have_columns_of_the_models():
    """The models get the columns that dbt would give them, as far as they read them."""
    assert made("many").messages.schema == declared("int_group_messages")
    assert made("many").links.schema == declared("int_group_links")
    for field in made("many").lines.schema:
        assert field == verify_lines.OUTPUT_SCHEMA.field(field.name)


@pytest.mark.parametrize("model", groups.MODELS)
def test_kernels_are_those_of_the_models(model):
    (kernel,) = groups.MODELS[model].kernel.args
    assert vars(model_runner.load(model))[kernel.__name__] is kernel


def test_goals_are_for_the_full_size(capsys):
    result = {"shape": "many", "name": "int_group_results", "ratio": 3.01, "jobs": 4, "jobs_small": 4}
    assert [goal.met for goal in groups.wanted(result, judged=True)] == [False, True]
    assert [goal.met for goal in groups.wanted(result | {"jobs": 5}, judged=False)] == [None, False]


def test_speed_is_measured_without_spark(monkeypatch, tmp_path):
    """The kernels alone, on both shapes, from files that are written once."""
    monkeypatch.setattr(in_spark, "RESULTS", tmp_path)
    options = command.parse(["groups", "--no-spark", "--scale", "0.002", "--repeats", "2"])
    results, goals = groups.run(options)
    monkeypatch.setattr(group_shapes, "tables", None)
    again, _ = groups.run(options)
    assert [(row["name"], row["shape"], row["messages"]) for row in results] == [
        ("int_group_results", "many", 6_000),
        ("int_group_results", "one", 408),
        ("int_group_foreign_excludes", "many", 6_000),
        ("int_group_foreign_excludes", "one", 408),
    ]
    assert [row["rows"] for row in again] == [row["rows"] for row in results] and not goals
    assert groups.read_back("int_group_results", "many", 0.002).schema == INPUT_SCHEMA
