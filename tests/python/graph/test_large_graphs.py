"""Graphs too large for memory, or for a task: the same rows from disk, and a reason instead of a crash."""

from collections import Counter
from functools import partial

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.graph import DEPTH_SCHEMA, WALK_INPUT_SCHEMA, WALK_OUTPUT_SCHEMA, graph_batches
from dbt_tangles.algorithms.graph.graph_batches import walk_partition
from dbt_tangles.kernel_runtime import spill_buffer
from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH
from dbt_tangles.kernel_runtime.spill_buffer import NO_LIMIT, GroupBuffer, Rows
from graph_logs import known_rows, logs
from graph_oracle import DEFAULTS, naive_walk, thread

IN_SCHEMA = WALK_INPUT_SCHEMA.append(pa.field("known_depth", pa.int32()))
GRAPH = ("graph_kind", "graph_id")
MEMBERS = pa.schema(
    [
        *(WALK_INPUT_SCHEMA.field(name) for name in (*GRAPH, "node_id", "previous")),
        ("depth", pa.int32()),
        *(WALK_INPUT_SCHEMA.field(name) for name in ("author", "sequence")),
    ]
)


def walked(rows: list[dict], piece: int, **limits: int) -> list[dict]:
    """Walk rows as a worker does, in batches."""
    table = pa.Table.from_pylist([DEFAULTS | row for row in rows], IN_SCHEMA)
    batches = list(walk_partition(iter(table.to_batches(max_chunksize=piece)), **limits))
    schema = pa.schema([*WALK_INPUT_SCHEMA, *WALK_OUTPUT_SCHEMA])
    rows = pa.Table.from_batches(batches, schema).to_pylist()
    return [row | {"own_left_out": row["own_left_out"] and sorted(row["own_left_out"])} for row in rows]


def in_any_order(rows: list[dict]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


def with_depths(rows: list[dict], data: st.DataObject) -> list[dict]:
    """Mix in rows with the depths of some graphs."""
    members = known_rows(rows, naive_walk(rows))
    graphs = data.draw(st.sets(st.sampled_from([of(row) for row in members] or [()])))
    known = [row for row in members if of(row) in graphs]
    told = [{name: row[name] for name in DEPTH_SCHEMA.names[:3]} | {"known_depth": row["depth"]} for row in known]
    return data.draw(st.permutations([*rows, *told]))


@given(logs(), st.integers(1, 5), st.integers(1, 12), st.data())
def test_rows_on_disk_give_the_same_table(rows, piece, in_memory, data):
    mixed = with_depths(rows, data)
    assert in_any_order(walked(mixed, piece, rows_in_memory=in_memory)) == in_any_order(walked(mixed, piece))
    wanted = [DEFAULTS | {name: row[name] for name in WALK_INPUT_SCHEMA.names} for row in rows]
    wanted = [row | answer for row, answer in zip(wanted, naive_walk(rows), strict=True)]
    assert in_any_order(walked(mixed, piece, rows_in_memory=in_memory)) == in_any_order(wanted)


@given(logs(), st.integers(1, 5), st.integers(1, 9), st.integers(1, 12), st.data())
def test_large_graphs_are_set_aside(rows, piece, limit, in_memory, data):
    """All graphs above the limit, and only these: each row appears once, and other graphs are unchanged."""
    answer = walked(with_depths(rows, data), piece, graph_limit=limit, rows_in_memory=in_memory)
    wanted = []
    for row, place in zip(rows, naive_walk(rows), strict=True):
        if sum(all(row[name] == other[name] for name in GRAPH) for other in rows) > limit:
            place = dict.fromkeys(place) | {"set_aside_reason": row["claim_error"] or "tangle_too_large"}
        wanted.append({name: row[name] for name in WALK_INPUT_SCHEMA.names} | place)
    assert in_any_order(answer) == in_any_order(wanted)


def test_large_graphs_are_never_buffered():
    """Of a large graph at most the limit is buffered; the other rows are returned as they arrive."""
    links = {"0": None} | {str(number): [str(number - 1)] for number in range(1, 3_000)}
    table = pa.Table.from_pylist([DEFAULTS | row for row in thread(links)], WALK_INPUT_SCHEMA)
    keeper = GroupBuffer(GRAPH, 100, NO_LIMIT)
    given_back = 0
    for batch in table.to_batches(max_chunksize=30):
        given_back += sum(map(len, keeper.add_rows(batch)))
        assert keeper.rows is not None and len(keeper.rows) <= 100
    given_back += sum(map(len, keeper.pop_large()))
    assert given_back == 3_000 and keeper.rows is None


@given(logs(), st.integers(1, 5), st.integers(1, 8), st.integers(1, 20), st.integers(0, 9))
def test_graphs_without_pairs_or_clocks_are_not_buffered(rows, piece, limit, max_rows, few):
    """Other graphs are buffered completely, and their results equal those from all rows."""
    answers = naive_walk(rows)
    members = [row | {"depth": at["depth"]} for row, at in zip(rows, answers, strict=True) if at["depth"] is not None]
    table = pa.Table.from_pylist(members, MEMBERS)
    batches = table.to_batches(max_chunksize=piece)
    sizes = Counter(tuple(row[name] for name in GRAPH) for row in members)
    authors = {
        graph: {row["author"] for row in members if of(row) == graph and None not in (row["author"], row["sequence"])}
        for graph in sizes
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_batches, "UNCOUNTED_ROWS", few)
        with_pairs = list(graph_batches.within_pair_limit(iter(batches), limit))
        with_clocks = list(graph_batches.within_clock_limit(iter(batches), max_rows))
    for kept, is_small in (
        (with_pairs, lambda graph: sizes[graph] <= limit),
        (with_clocks, lambda graph: sizes[graph] * len(authors[graph]) <= max_rows),
    ):
        wanted = [row for row in table.to_pylist() if len(members) <= few or is_small(of(row))]
        if len(members) > max(few, limit):
            assert in_any_order(pa.Table.from_batches(kept, MEMBERS).to_pylist()) == in_any_order(wanted)
    for kept, kernel in (
        (with_pairs, partial(graph_batches.ancestors_of_partition, limit=limit)),
        (with_clocks, partial(graph_batches.clocks_of_partition, limit=0, max_rows=max_rows)),
    ):
        of_all, of_kept = ([row for made in kernel(iter(some)) for row in made.to_pylist()] for some in (batches, kept))
        assert in_any_order(of_all) == in_any_order(of_kept)


def of(row: dict) -> tuple:
    return tuple(row[name] for name in GRAPH)


def numbers(begin: int, end: int) -> pa.RecordBatch:
    values = list(range(begin, end))
    return pa.RecordBatch.from_pydict({"number": values, "text": [str(value) for value in values]})


@pytest.mark.parametrize("in_memory", [1, 40, 99, 100, NO_LIMIT])
def test_rows_may_be_read_and_added_to_in_turns(in_memory):
    rows = Rows(numbers(0, 1).schema, in_memory)
    for begin in range(0, 200, 20):
        rows.add(numbers(begin, begin + 20))
        assert len(rows) == begin + 20
        assert rows.is_on_disk == (len(rows) > in_memory)
        assert rows["text"].to_pylist() == [str(value) for value in range(begin + 20)]
    some = pa.Table.from_batches(rows.to_batches(["text", "number"]))
    assert some.column_names == ["text", "number"] and some["number"].to_pylist() == list(range(200))
    assert pa.Table.from_batches(rows.to_batches()).equals(pa.Table.from_batches([numbers(0, 200)]))


@pytest.mark.parametrize("in_memory", [1, NO_LIMIT])
def test_rows_return_in_small_batches(in_memory):
    rows = Rows(numbers(0, 1).schema, in_memory)
    rows.add(numbers(0, 2 * ROWS_PER_BATCH + 1))
    assert [len(batch) for batch in rows.to_batches()] == [ROWS_PER_BATCH, ROWS_PER_BATCH, 1]


def test_files_are_where_spark_keeps_its_own(monkeypatch, tmp_path):
    """In the first of its writable folders; without one, in the default temporary folder."""
    asked = []
    make = spill_buffer.tempfile.TemporaryFile
    monkeypatch.setattr(
        spill_buffer.tempfile, "TemporaryFile", lambda **where: asked.append(where["dir"]) or make(**where)
    )
    for folders, wanted in ((f"{tmp_path}/none,{tmp_path},{tmp_path}/other", str(tmp_path)), ("", None), (None, None)):
        monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
        if folders is not None:
            monkeypatch.setenv("SPARK_LOCAL_DIRS", folders)
        rows = Rows(numbers(0, 1).schema, 1)
        for number in range(3):
            rows.add(numbers(number, number + 1))
        assert rows.is_on_disk and len(rows["number"]) == 3
        assert asked == [wanted, wanted]  # A file for each column.
        asked.clear()
        assert not list(tmp_path.iterdir())  # The files are unnamed.


def test_a_full_disk_is_an_error(monkeypatch):
    with open("/dev/full", "wb", buffering=0) as full:
        monkeypatch.setattr(spill_buffer.tempfile, "TemporaryFile", lambda **_: full)
        rows = Rows(numbers(0, 1).schema, 1)
        with pytest.raises(OSError, match="No space left on device"):
            rows.add(numbers(0, 5))
