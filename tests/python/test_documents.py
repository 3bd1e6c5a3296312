"""The tests of the documents' statements fail if a row is missing, surplus or different in a compared column."""

import re
from typing import NamedTuple

import pytest

from conftest import ROOT, DbtProject

# These values differ from those of all rows, because a value of another row could go unnoticed.
ALTERED = {
    "string": "concat(coalesce({0}, ''), 'x')",
    "boolean": "not coalesce({0}, false)",
    "int": "-1 - coalesce({0}, 0)",
    "bigint": "-1 - coalesce({0}, 0)",
    "array<string>": "if(size({0}) > 0, transform({0}, word -> concat(word, 'x')), array('x'))",
    "array<struct<tip_id:string,message_id:string,value:string>>": (
        "array(named_struct('tip_id', 'x', 'message_id', 'x', 'value', 'x'))"
    ),
    "array<struct<writer:string,heads:array<string>>>": "array(named_struct('writer', 'x', 'heads', array('x')))",
}


class Comparison(NamedTuple):
    """A statement of a document, the table that it describes, and the query for the rows that only one has."""

    statement: str
    table: str
    columns: tuple[str, ...]
    query: str

    @property
    def is_partial(self) -> bool:
        """Whether the statement has only some rows of each example, as for the design document's rule."""
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
    """Compile the tests under both consensus rules."""
    found = set()
    for variables in ({}, {"consensus_rule": "design"}):
        project = DbtProject(fixtures.warehouse, fixtures.schema, vars=variables)
        result = project.invoke_parsed("compile", "--select", "test_name:matches_document", "test_name:matches_tables")
        assert result.success, result.exception
        found |= {comparison for done in result.result for comparison in comparisons(done.node)}
    texts = [path.read_text() for folder in ("models", "seeds") for path in (ROOT / folder).rglob("*.yml")]
    assert len(found) == sum(text.count("- matches_document:") + text.count("- table: ref(") for text in texts)
    assert sum(comparison.is_partial for comparison in found) == 2
    return found


def tampered(table: str, types: dict[str, str], compared: list[str]) -> dict[str, str]:
    """Return queries for the rows of a table: unchanged, missing, doubled, and with one column altered per row."""
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


@pytest.mark.both
def test_document_tests_find_every_difference(fixtures, compiled):
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
                # With an altered name, the row may belong to an unknown example.
                **{key: rows for key, rows in found.items() if key == ("differing", "built")},
            }
        if not is_right:
            wrong[comparison.statement, comparison.table] = found
    assert wrong == {}
