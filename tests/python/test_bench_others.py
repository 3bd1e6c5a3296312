"""Other tools give the same answers, or report how they ended."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from bench import others
from bench.one_tool import ANSWERS, QUESTIONS, TOOLS
from bench.shapes import shape


@pytest.fixture(scope="module", params=["W", "D"])
def asked(request, tmp_path_factory):
    """Return a small shape as a file, and the answer to each question, by plain Python."""
    table = shape(request.param, 0.001)
    file = tmp_path_factory.mktemp("others") / "nodes.parquet"
    pq.write_table(table, file)
    rows = {(row["graph_id"], row["node_id"]): row for row in table.to_pylist()}
    depths, ancestors = {}, {}
    while len(depths) < len(rows):
        for (graph, node), row in rows.items():
            above = [] if row["is_root"] else [(graph, other) for other in row["previous"]]
            if all(other in depths for other in above):
                depths[graph, node] = max((depths[other] for other in above), default=-1) + 1
                ancestors[graph, node] = set(above).union(*(ancestors[other] for other in above))
    return file, {
        "depth": sum(depths.values()),
        "ancestors": sum(map(len, ancestors.values())),
        "components": len({graph for graph, _ in rows}),
    }


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_all_tools_give_the_same_answers(asked, question, tool):
    file, answers = asked
    assert ANSWERS[question][tool](file) == answers[question]


def test_a_tool_that_takes_too_long_is_stopped(asked, monkeypatch):
    monkeypatch.setattr(others, "PATIENCE", 0)
    assert others.ask("depth", "networkx", asked[0]) == {"ended": "over 0 s"}


def test_the_error_of_a_failed_tool_is_quoted(tmp_path):
    assert "no_such_file" in others.ask("depth", "networkx", tmp_path / "no_such_file")["ended"]


def test_an_answer_has_its_price(asked):
    """The peak is the process's own, however much memory its parent has."""
    of_parent = np.ones(2**27)
    answer = others.ask("depth", "networkx", asked[0])
    assert answer["answer"] == asked[1]["depth"]
    assert answer["cpu_s"] > 0 and 0 < answer["peak_mib"] < of_parent.nbytes >> 20
