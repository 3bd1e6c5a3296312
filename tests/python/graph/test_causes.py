"""Root causes compared with plain Python, and with the members after a cause is repaired."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.graph import WALK_INPUT_SCHEMA, root_causes, walk_graphs
from graph_oracle import DEFAULTS, naive_causes, waiting_of

SCHEMA = pa.schema(
    [
        ("graph_kind", pa.string()),
        ("graph_id", pa.string()),
        ("node_id", pa.string()),
        ("is_cause", pa.bool_()),
        ("waits_for", pa.list_(pa.string())),
    ]
)


@st.composite
def candidates(draw) -> list[dict]:
    """Generate candidates of two graphs that list each other, missing ids, or an empty list; some have bad claims."""
    rows = []
    for graph in ("A", "B"):
        count = draw(st.integers(1, 9))
        names = [f"{graph}{number}" for number in range(count)]
        for number, name in enumerate(names):
            listed = draw(st.lists(st.sampled_from([*names, "gone", "lost", "missing"]), max_size=4))
            is_root = number == 0 and draw(st.integers(0, 3)) > 0
            rows.append(
                DEFAULTS
                | {
                    "graph_id": names[0],
                    "node_id": name,
                    "previous": None if is_root else listed,
                    "is_root": is_root,
                    "claim_error": draw(st.sampled_from([None, None, None, None, "wrong_type"])),
                }
            )
    return rows


def depths(rows: list[dict]) -> dict[tuple[str, str], int | None]:
    found = walk_graphs(pa.Table.from_pylist(rows, WALK_INPUT_SCHEMA))["depth"].to_pylist()
    return {(row["graph_id"], row["node_id"]): depth for row, depth in zip(rows, found, strict=True)}


def causes_of(rows: list[dict], seed: int = 0) -> dict[tuple[str, str], list[str]]:
    waiting = waiting_of(rows, depths(rows))
    waiting = [waiting[i] for i in np.random.default_rng(seed).permutation(len(waiting))]
    found = root_causes(pa.Table.from_pylist(waiting, SCHEMA)).to_pylist()
    return {(row["graph_id"], row["node_id"]): ids for row, ids in zip(waiting, found, strict=True)}


@given(candidates(), st.integers(0, 9))
def test_causes_are_those_of_the_oracle(rows, seed):
    assert causes_of(rows, seed) == naive_causes(waiting_of(rows, depths(rows)))


@given(candidates())
def test_a_repaired_cause_releases_its_nodes(rows):
    """The nodes that wait only for one missing id become members when it arrives, and all others stay."""
    before, causes = depths(rows), causes_of(rows)
    there = {(row["graph_id"], row["node_id"]) for row in rows}
    for graph, missing in causes.keys() - there:
        comes = DEFAULTS | {"graph_id": graph, "node_id": missing, "is_root": True}
        after = depths([*rows, comes])
        unlocked = {key for key in there if before[key] is None and after[key] is not None}
        assert unlocked == {key for key in there if key[0] == graph and causes.get(key) == [missing]}


def test_only_the_first_causes_are_kept():
    rows = [{"node_id": f"{number:03}", "is_cause": True, "waits_for": []} for number in range(300)]
    rows += [
        {"node_id": "merge", "is_cause": False, "waits_for": [f"{number:03}" for number in range(299, 49, -1)]},
        {"node_id": "next", "is_cause": False, "waits_for": ["merge", "007"]},
    ]
    table = pa.Table.from_pylist([{"graph_kind": "t", "graph_id": "g"} | row for row in rows], SCHEMA)
    *_, merge, behind = root_causes(table, 100).to_pylist()
    assert merge == [f"{number:03}" for number in range(50, 150)]
    assert behind == ["007", *merge[:99]]


@pytest.mark.parametrize("waits_for", [[], ["nobody"]])
def test_a_node_without_a_known_awaited_id_is_refused(waits_for):
    row = {"graph_kind": "t", "graph_id": "g", "node_id": "a", "is_cause": False, "waits_for": waits_for}
    with pytest.raises(ValueError, match="waits for nothing"):
        root_causes(pa.Table.from_pylist([row], SCHEMA))


def test_a_long_chain_behind_a_missing_node():
    count = 200_000
    names = [f"{number:06}" for number in range(count)]
    table = pa.table(
        {
            "graph_kind": ["t"] * count,
            "graph_id": ["g"] * count,
            "node_id": names,
            "is_cause": [True] + [False] * (count - 1),
            "waits_for": [[], *([name] for name in names[:-1])],
        },
        SCHEMA,
    )
    assert set(map(tuple, root_causes(table).to_pylist())) == {("000000",)}
