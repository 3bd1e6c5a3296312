"""The tests of what the documents state fail where a row is missing, too many, or differs in a column they compare."""

import re
from typing import NamedTuple

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


class Comparison(NamedTuple):
    """A statement of a document and the table that it is about, as one of the tests compares them.

    Attributes:
        statement: The test and the statement.
        table: The table.
        columns: The words in the table's side of the comparison.
        query: The rows that only one side has.
    """

    statement: str
    table: str
    columns: tuple[str, ...]
    query: str

    @property
    def is_partial(self) -> bool:
        """Whether the document states only some rows of each example: those of the rule that is not the fixtures'."""
        return self.statement.endswith(" autobase_views_design")


def comparisons(node) -> list[Comparison]:
    """Split a compiled test into its comparisons."""
    queries = [("", node.compiled_code)]
    if node.test_metadata.name == "matches_tables":
        parts = re.split(r"^-- (\w+) in .*$", node.compiled_code, flags=re.M)[1:]
        queries = [*zip(parts[::2], (part.strip().removesuffix("union all") for part in parts[1::2]), strict=True)]
    found = []
    for statement, query in queries:
        columns, table = re.search(r"built as \(\s*select (.*?)\s+from ([\w.]+)", query, re.S).groups()
        found.append(Comparison(f"{node.name} {statement}", table, tuple(re.findall(r"\w+", columns)), query))
    return found


@pytest.fixture(scope="module")
def compiled(fixtures) -> set[Comparison]:
    """Compile the tests, those for the other rule too."""
    found = set()
    for variables in ({}, {"consensus_rule": "design"}):
        project = DbtProject(fixtures.warehouse, fixtures.schema, vars=variables)
        result = project.invoke("compile", "--select", "test_name:matches_document", "test_name:matches_tables")
        assert result.success, result.exception
        found |= {comparison for done in result.result for comparison in comparisons(done.node)}
    texts = [path.read_text() for folder in ("models", "seeds") for path in (ROOT / folder).rglob("*.yml")]
    assert len(found) == sum(text.count("- matches_document:") + text.count("- table: ref(") for text in texts)
    assert sum(comparison.is_partial for comparison in found) == 2
    return found


def tampered(table: str, types: dict[str, str], compared: list[str]) -> dict[str, str]:
    """Queries that give a table's rows: as they are, none, each twice, and each with one column altered, by turns."""
    columns = [
        f"if(turn = {compared.index(name)}, {ALTERED[of].format(name)}, {name}) as {name}" if name in compared else name
        for name, of in types.items()
    ]
    turns = f"select *, pmod(monotonically_increasing_id(), {len(compared)}) as turn from {table}"
    return {
        "as it is": f"select * from {table}",
        "missing": f"select * from {table} where false",
        "too many": f"select * from {table} union all select * from {table}",
        "differing": f"select {', '.join(columns)} from ({turns})",
    }


@pytest.mark.both_at_length
def test_whatever_differs_is_found(fixtures, compiled):
    from pyspark.sql import SparkSession

    spark = SparkSession.active()
    wrong = {}
    for comparison in sorted(compiled):
        table, query = comparison.table, comparison.query
        types = dict(spark.table(table).dtypes)
        tables = tampered(table, types, [column for column in types if column in comparison.columns])
        assert len(re.findall(rf"from {table}\b", query)) == 1, comparison.statement
        counts = []
        for kind, rows in tables.items():
            differing = re.sub(rf"from {table}\b", lambda _, rows=rows: f"from ({rows})", query)
            counts.append(f"select '{kind}' as kind, side, count(*) as rows from ({differing}) group by side")
        found = {(row.kind, row.side): row.rows for row in spark.sql(" union all ".join(counts)).collect()}
        stated = found["missing", "expected"]
        if comparison.is_partial:
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
            wrong[comparison.statement, comparison.table] = found
    assert wrong == {}
