"""Made-up bases of Autobase and their measurement, in small. These tests neither time nor start Spark."""

import random

import pyarrow as pa
import pytest

import autobase_oracle as oracle
from autobase_oracle import Base, Id, Node
from bench import __main__ as command
from bench import autobase, autobase_bases, sets
from cli_kit import declared
from dbt_tangles.algorithms.autobase.bases import ORDER_SCHEMA, order_bases
from dbt_tangles.algorithms.autobase.consensus import order_views

SHAPES = {
    "gossip": lambda count, writers: autobase_bases.gossip(count, writers, random.Random(5)),
    "rounds": autobase_bases.rounds,
    "acked": autobase_bases.acked,
}


def key(writer: int) -> bytes:
    return bytes([writer])


def base_of(drafts: list[autobase_bases.Draft], indexers: int) -> Base:
    """Return one base in the oracle's form."""
    ids = [Id(key(draft.writer), draft.length) for draft in drafts]
    nodes = {i: Node(i, tuple(ids[each] for each in draft.previous)) for i, draft in zip(ids, drafts, strict=True)}
    return Base(tuple(key(writer) for writer in range(indexers)), nodes)


@pytest.mark.parametrize("writers", [1, 3, 5, 9])
@pytest.mark.parametrize("shape", SHAPES)
def test_writers_follow_all_heads_that_they_know(shape, writers):
    """A node follows its writer's last node and all heads that its writer knows."""
    past, last = [], {}
    for number, draft in enumerate(SHAPES[shape](300, writers)):
        own, length = last.get(draft.writer, (None, 0))
        assert draft.length == length + 1
        assert len(set(draft.previous)) == len(draft.previous)
        assert own is None or own in draft.previous
        heads = [each for each in draft.previous if each != own]
        below = set().union(*(past[each] for each in draft.previous))
        assert not below & set(heads)
        past.append(below | set(draft.previous))
        assert all(each < number for each in past[-1])
        last[draft.writer] = number, draft.length


@pytest.mark.parametrize("indexers", autobase.QUOTED_S)
def test_nearly_all_of_gossip_is_settled(indexers):
    """Nodes merge, because one writer writes beside another now and then."""
    view = autobase.settling(2_000, indexers)
    _, (placed,), (settled,) = order_views(view)
    assert placed == 2_000 and settled > 1_900
    assert len(view.previous) > 1.5 * 2_000


@pytest.mark.parametrize("shape", autobase.STALLED)
@pytest.mark.parametrize("indexers", [3, autobase.STALLED_INDEXERS, 9])
def test_endless_forks_stay_unsettled(shape, indexers):
    view = autobase_bases.arrays(autobase.STALLED[shape](1_000, indexers), indexers)
    _, (placed,), (settled,) = order_views(view)
    assert (placed, settled) == (1_000, 0)


@pytest.mark.parametrize("shape", SHAPES)
def test_made_bases_equal_the_oracle(shape):
    """The arrays are equal to the written bases."""
    drafts = list(SHAPES[shape](150, 5))
    base = base_of(drafts, 3)
    order, _, (settled,) = order_views(autobase_bases.arrays(iter(drafts), 3))
    ids = sorted(base.nodes)
    assert ([ids[each] for each in order], settled) == oracle.order_of(base)


def test_tables_hold_bases_as_written():
    """The order of a table's bases equals that of the arrays; each writer belongs to one base only."""
    table = autobase_bases.table(3, 40, 4, 3)
    rows = table.to_pylist()
    assert len({row["base_id"] for row in rows}) == 3 and len({row["writer"] for row in rows}) == 12
    found = pa.Table.from_batches(order_bases(sets.shuffled(table), 10**9), ORDER_SCHEMA).to_pylist()
    assert len({row["observer"] for row in found}) == 13
    for base_id in {row["base_id"] for row in rows}:
        nodes = {}
        for row in (row for row in rows if row["base_id"] == base_id):
            heads = (each.split(":") for each in row["previous"])
            i = Id(row["writer"].encode(), row["length"])
            nodes[i] = Node(i, tuple(Id(writer.encode(), int(length)) for writer, length in heads))
        base = Base(tuple(each.encode() for each in row["indexers"]), nodes)
        of_all = [each for each in found if (each["base_id"], each["observer"]) == (base_id, "all")]
        order, settled = oracle.order_of(base)
        assert [each["node_id"] for each in of_all] == [f"{i.writer.decode()}:{i.length}" for i in order]
        assert sum(each["is_confirmed"] for each in of_all) == settled


def test_a_seed_is_a_table():
    assert autobase_bases.table(3, 20, 4, 3).equals(autobase_bases.table(3, 20, 4, 3))
    assert not autobase_bases.table(3, 20, 4, 3).equals(autobase_bases.table(3, 20, 4, 3, seed=2))


def test_members_have_columns_of_the_model():
    """The models get the columns that dbt would give them, as far as they read them."""
    for field in autobase.members(0.0002).schema:
        assert field == declared("int_autobase_members").field(field.name)


def test_speed_is_measured_without_spark():
    """All parts run in small."""
    results, goals = autobase.run(command.parse(["autobase", "--scale", "0.01", "--repeats", "2"]))
    kernel = ["kernel"] * 2 + ["kernel_growth"]
    assert [result["part"] for result in results] == ["kernel"] * 3 + 2 * kernel + 2 * (
        ["stalled"] * 4 + ["stalled_growth"]
    )
    assert [result["nodes"] for result in results[:5]] == [100, 100, 100, 500, 5_000]
    assert not any("quoted_cpu_s" in result for result in results)
    assert len(goals) == 4 and all(goal.met is None for goal in goals)


def test_quoted_seconds_are_for_the_full_size(monkeypatch):
    """Quoted seconds are reported beside the kernel's, and named as quoted."""
    monkeypatch.setattr(
        autobase, "settling", lambda count, indexers, make=autobase.settling: make(count // 100, indexers)
    )
    results, goals = autobase.kernel_alone(1, 1)
    assert [result["quoted_cpu_s"] for result in results[:3]] == [2.6, 11.2, 49.6]
    assert all("quoted" in goal.what for goal in goals[:3])
