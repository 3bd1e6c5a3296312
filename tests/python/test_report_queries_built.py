"""Each query of the report runs alone in `tangles sql`, with the rows that the report reads from the same tables."""

import json

import pytest

from cli_kit import tangles
from dbt_tangles import queries
from dbt_tangles.cli.public_tables import value_names
from dbt_tangles.cli.sql import to_json
from dbt_tangles.cli.tables import Tables

#: Values for queries that share their name.
VALUES = {"subjects": 20, "nodes": 100, "bins": 60, "commands": 400, "off_chain": 50, "until": 2**40}
VALUES |= {"is_member": False, "is_taken": False, "observer": "all", "first": 0}
#: Expressions for the others: a subject with most rows of a table, or all ids of the columns.
SUBJECTS = {
    "author": "select author from feeds order by status = 'complete', message_count desc",
    "base": """select base_id from autobase_rejects semi join autobase_unsettled using (base_id)
        semi join autobase_confirmations using (base_id) semi join autobase_quorums using (base_id)
        where node_id is not null order by all""",
    "group": "select group_id from group_findings join group_epochs using (group_id) order by all",
    "set": """select set_id from set_items
        semi join (from set_messages where not (is_valid or is_held)) using (set_id) order by set_id""",
    "timeline": "select timeline_id from timeline_stats order by edits_per_event desc, timeline_id",
    "name": "select tangle_name from tangle_missing where tangle_name <> 'ssb:feed' order by all",
    "root": "select root_id from tangle_missing where tangle_name <> 'ssb:feed' order by tangle_name, root_id",
}
IDS = {
    "epochs": "select distinct epoch_id from group_epochs",
    "roots": "select root_id from records",
    "ids": """select message_id from ssb_messages union select message_id from pzp_messages
        union select node_id from autobase_nodes union select missing_id from tangle_missing""",
}


def ask(fixtures, query: str, **values) -> list:
    """Return the rows of `tangles sql`."""
    place = ["--warehouse", str(fixtures.warehouse), "--schema", fixtures.schema, "--limit", "100000"]
    given = [f"--value={name}={json.dumps(value)}" for name, value in values.items()]
    result = tangles("sql", "--json", *place, *given, "--", query)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["rows"]


@pytest.fixture(scope="module")
def values(fixtures):
    """Return a value of each name."""
    ones = {name: ask(fixtures, query)[0][0] for name, query in SUBJECTS.items()}
    lists = {name: sorted(row[0] for row in ask(fixtures, query)) for name, query in IDS.items()}
    return VALUES | ones | lists


@pytest.mark.parametrize("name", queries.names())
def test_each_query_runs_alone(name, fixtures, values):
    """`tangles sql` answers a file as it stands, with rows, and those that the report reads."""
    text = queries.text_of(name)
    needed = {each: values[each] for each in sorted(value_names(text))}
    rows = ask(fixtures, text, **needed)
    assert rows
    read = Tables(fixtures.warehouse, fixtures.schema).rows(queries.query(name), **needed)
    assert sorted(map(repr, rows)) == sorted(repr([to_json(value) for value in row.values()]) for row in read)
