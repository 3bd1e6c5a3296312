"""The tests of what the documents state fail where a row is missing, too many, or differs in a column they compare."""

import re

import pytest

from conftest import DbtProject

ALTERED = {
    "string": "concat(coalesce({0}, ''), 'x')",
    "boolean": "not coalesce({0}, false)",
    "int": "coalesce({0}, 0) + 1",
    "bigint": "coalesce({0}, 0) + 1",
    "array<string>": "array_append(coalesce({0}, array()), 'x')",
}
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
    assert found.keys() >= DESIGN and len(found) == 26
    return found


def columns_compared(node) -> set[str]:
    """The words in the model's side of what is compared."""
    columns = node.test_metadata.kwargs["columns"]
    return {
        word
        for column in columns
        for side in ([column] if type(column) is str else column)
        for word in re.findall(r"\w+", side)
    }


def test_whatever_differs_is_found(fixtures, compiled):
    from pyspark.sql import SparkSession

    spark = SparkSession.active()
    unnoticed, differing = [], set()
    for name, node in compiled.items():
        model = f"{fixtures.schema}.{node.attached_node.rsplit('.', 1)[-1]}"
        assert len(re.findall(rf"from {model}\b", node.compiled_code)) == 1, name
        types = dict(spark.table(model).dtypes)
        kinds = {
            "as it is": "*",
            **{
                column: f"* except ({column}), {ALTERED[types[column]].format(column)} as {column}"
                for column in types.keys() & columns_compared(node)
            },
        }
        tables = {kind: f"select {columns} from {model}" for kind, columns in kinds.items()}
        tables |= {"missing": f"select * from {model} where false"}
        tables |= {"too many": f"select * from {model} union all select * from {model}"}
        counts = []
        for kind, table in tables.items():
            query = re.sub(rf"from {model}\b", f"from ({table})", node.compiled_code)
            counts.append(f"select '{kind}' as kind, count(*) as differences from ({query})")
        found = {row.kind: row.differences for row in spark.sql(" union all ".join(counts)).collect()}
        if found["as it is"]:
            differing.add(name)
        unnoticed += [
            (name, kind) for kind, count in found.items() if kind != "as it is" and count <= found["as it is"]
        ]
    assert unnoticed == []
    assert differing <= DESIGN
