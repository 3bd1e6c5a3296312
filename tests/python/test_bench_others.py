"""Other tools find the same depths, or report how they ended."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from bench import others
from bench.one_tool import ANSWERS
from bench.shapes import shape


@pytest.fixture(scope="module", params=["W", "D"])
def asked(request, tmp_path_factory):
    """Return a small shape as a file, and the sum of its depths, by plain Python."""
    table = shape(request.param, 0.001)
    file = tmp_path_factory.mktemp("others") / "nodes.parquet"
    pq.write_table(table, file)
    rows = {(row["graph_id"], row["node_id"]): row for row in table.to_pylist()}
    depths = {}
    while len(depths) < len(rows):
        for (graph, node), row in rows.items():
            above = [] if row["is_root"] else [depths.get((graph, other)) for other in row["previous"]]
            if None not in above:
                depths[graph, node] = max(above, default=-1) + 1
    return file, sum(depths.values())


@pytest.mark.parametrize("who", ANSWERS)
def test_everybody_finds_the_same_depths(asked, who):
    file, depth_sum = asked
    assert ANSWERS[who](file) == depth_sum


def test_whoever_takes_too_long_is_stopped(asked, monkeypatch):
    monkeypatch.setattr(others, "PATIENCE", 0)
    assert others.ask("networkx", asked[0]) == {"ended": "over 0 s"}


def test_whoever_fails_is_quoted(tmp_path):
    assert "no_such_file" in others.ask("networkx", tmp_path / "no_such_file")["ended"]


def test_an_answer_has_its_price(asked):
    """The peak is the process's own, however much memory its parent has."""
    of_parent = np.ones(2**27)
    answer = others.ask("networkx", asked[0])
    assert answer["depth_sum"] == asked[1]
    assert answer["cpu_s"] > 0 and 0 < answer["peak_mib"] < of_parent.nbytes >> 20
