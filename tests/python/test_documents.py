"""The tests of what the documents state fail where a row is missing, too many, or differs in a column they compare."""

import re

import pytest

from conftest import ROOT, DbtProject

# Values that no row has: one that another row has could stand in for it.
ALTERED = {
    "string": "concat(coalesce({0}, ''), 'x')",
    "boolean": "not coalesce({0}, false)",
    "int": "-1 - coalesce({0}, 0)",
    "bigint": "-1 - coalesce({0}, 0)",
    "array<string>": "if(size({0}) > 0, transform({0}, word -> concat(word, 'x')), array('x'))",
}
# Of the rule that is not the fixtures'.
DESIGN = {"documents_autobase_views_design", "documents_autobase_views_design_settled"}


@pytest.fixture(scope="module")
def compiled(fixtures) -> dict:
    """Compile the tests, those for the other rule too; their nodes by name."""
    found = {}
    for variables in ({}, {"consensus_rule": "design"}):
        project = DbtProject(fixtures.warehouse, fixtures.schema, vars=variables)
        result = project.invoke("compile", "--select", "test_name:matches_document")
        assert result.success, result.exception
        found |= {done.node.name: done.node for done in result.result}
    written = sum(path.read_text().count("- matches_document:") for path in (ROOT / "models").rglob("*.yml"))
    assert found.keys() >= DESIGN and len(found) == written
    return found


def columns_compared(node) -> set[str]:
    """The words in the model's side of what is compared."""
    columns = node.test_metadata.kwargs["columns"]
    sides = [side for column in columns for side in ([column] if type(column) is str else column)]
    return set(re.findall(r"\w+", " ".join(sides)))


def tampered(model: str, types: dict[str, str], compared: list[str]) -> dict[str, str]:
    """Queries that give a model's rows: as they are, none, each twice, and each with one column altered, by turns."""
    columns = [
        f"if(turn = {compared.index(name)}, {ALTERED[of].format(name)}, {name}) as {name}" if name in compared else name
        for name, of in types.items()
    ]
    turns = f"select *, pmod(monotonically_increasing_id(), {len(compared)}) as turn from {model}"
    return {
        "as it is": f"select * from {model}",
        "missing": f"select * from {model} where false",
        "too many": f"select * from {model} union all select * from {model}",
        "differing": f"select {', '.join(columns)} from ({turns})",
    }


@pytest.mark.both_at_length
def test_whatever_differs_is_found(fixtures, compiled):
    from pyspark.sql import SparkSession

    spark = SparkSession.active()
    wrong = {}
    for name, node in compiled.items():
        model = f"{fixtures.schema}.{node.attached_node.rsplit('.', 1)[-1]}"
        types = dict(spark.table(model).dtypes)
        tables = tampered(model, types, [column for column in types if column in columns_compared(node)])
        assert len(re.findall(rf"from {model}\b", node.compiled_code)) == 1, name
        counts = []
        for kind, table in tables.items():
            query = re.sub(rf"from {model}\b", lambda _, table=table: f"from ({table})", node.compiled_code)
            counts.append(f"select '{kind}' as kind, side, count(*) as rows from ({query}) group by side")
        found = {(row.kind, row.side): row.rows for row in spark.sql(" union all ".join(counts)).collect()}
        stated = found["missing", "expected"]
        if name in DESIGN:
            is_right = found["too many", "built"] >= stated
        else:
            is_right = found == {
                ("missing", "expected"): stated,
                ("too many", "built"): stated,
                ("differing", "expected"): stated,
                # Where a name was altered, the row may be no example's any more.
                **{key: rows for key, rows in found.items() if key == ("differing", "built")},
            }
        if not is_right:
            wrong[name] = found
    assert wrong == {}
