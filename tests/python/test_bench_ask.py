"""Made-up tables for the command, in small. These tests do not time."""

import pyarrow.dataset as ds
import pytest

from bench import __main__ as command
from bench import ask, ask_tables
from cli_kit import schema
from dbt_tangles.cli import graphs, why_message
from dbt_tangles.cli.tables import Tables

MESSAGES = 3_000


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the warehouse, and the ids to ask about."""
    warehouse = tmp_path_factory.mktemp("made")
    return warehouse, ask_tables.write(warehouse / "tangles.db", MESSAGES)


def test_columns_are_those_of_the_contracts(made):
    warehouse, _ = made
    for folder in (warehouse / "tangles.db").iterdir():
        wanted = schema(folder.name)
        for column in ds.dataset(folder).schema:
            if column.name not in ("tangle_claims", "asserted_at"):
                assert column.type == wanted.field(column.name).type, f"{folder.name}.{column.name}"


def test_who_is_set_aside(made):
    warehouse, about = made
    tables = Tables(warehouse, "tangles")
    answer = why_message.explain(tables, about["set_aside"])
    (cause,) = answer["tangles"][0]["causes"]
    assert answer["feed"]["in_chain"] and cause["id"] == about["missing"] and len(cause["path"]) == 5
    counts = tables.rows("select is_member, count(*) as n from {tangle_messages} group by is_member order by n")
    assert [row["n"] for row in counts] == [12, MESSAGES - 12]
    assert tables.rows("select count(*) as n from {tangle_edges}")[0]["n"] == 2_700 + 2_000


def test_graphs_are_whole(made):
    warehouse, about = made
    graph = graphs.tangle(Tables(warehouse, "tangles"), "thread", about["root"], 50)
    assert [node.state for node in graph.nodes].count("in") == 6 and graph.left_out == 0
    assert len(graph.edges) == 9
    assert graphs.timeline(Tables(warehouse, "tangles"), "", "ssb:log", 50).total == MESSAGES


def test_the_questions_are_answered(made):
    warehouse, about = made
    for words in ask.questions(about, str(warehouse)).values():
        assert len(ask.ask(words, str(warehouse))) == 2
    with pytest.raises(RuntimeError, match="why"):
        ask.ask(["why", ""], str(warehouse))


def test_it_is_run_by_its_name():
    results, goals = ask.run(command.parse(["ask", "--scale", "0.002", "--repeats", "1"]))
    assert len(results) == 9 and len(goals) == 2 * 8 and all(goal.met is None for goal in goals)
