"""Graphs too large for memory, or for a task: the same rows from disk, and a reason instead of a crash."""

from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.graph.walk import walk
from graph_logs import graph_of, known_rows, logs
from graph_oracle import naive_walk, table_of, thread


def walked(rows: list[dict], piece: int, **limits: int) -> list[dict]:
    """Walk rows as a worker does, in batches."""
    batches = walk(iter(table_of(rows).to_batches(piece)), **limits)
    rows = [row for batch in batches for row in batch.to_pylist()]
    return [row | {"own_left_out": row["own_left_out"] and sorted(row["own_left_out"])} for row in rows]


def in_any_order(rows: list[dict]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


@given(logs(), st.integers(1, 5), st.integers(1, 12), st.integers(1, 12), st.data())
def test_large_graphs_are_set_aside(rows, piece, limit, in_memory, data):
    """All graphs above the limit, and only these: each row appears once, and other graphs are unchanged."""
    answers = naive_walk(rows)
    members = known_rows(rows, answers)
    graphs = data.draw(st.sets(st.sampled_from([graph_of(row) for row in members] or [()])))
    mixed = data.draw(st.permutations([*rows, *(row for row in members if graph_of(row) in graphs)]))
    wanted = []
    for row, place in zip(rows, answers, strict=True):
        if sum(graph_of(row) == graph_of(other) for other in rows) > limit:
            place = dict.fromkeys(place) | {"set_aside_reason": row["claim_error"] or "tangle_too_large"}
        wanted.append(row | {"known_depth": None} | place)
    assert in_any_order(walked(mixed, piece, group_limit=limit, rows_in_memory=in_memory)) == in_any_order(wanted)


def test_a_graph_of_exactly_the_limit_is_walked():
    rows = [row for name in "ab" for row in thread({name: None} | {f"{name}{at}": [name] for at in range(2)})]
    rows += thread({"b": None, "more": ["b"]})[1:]
    reasons = {row["node_id"]: row["set_aside_reason"] for row in walked(rows, 2, group_limit=3)}
    assert reasons == dict.fromkeys(["a", "a0", "a1"]) | dict.fromkeys(["b", "b0", "b1", "more"], "tangle_too_large")
