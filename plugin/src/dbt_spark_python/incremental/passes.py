"""Remembers the tests that passed and the tables they passed on, so that a test is not repeated on the same tables.

<warehouse>/.passed/<digest of the test's name>    a JSON object for each test
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from dbt_spark_python.incremental.definition import digest
from dbt_spark_python.incremental.earlier import plain_name
from dbt_spark_python.incremental.plan import REBUILD, REPLACE, REUSE, Plan, Planner
from dbt_spark_python.table_store import durable_files
from dbt_spark_python.table_store.warehouse import Warehouse

_FOLDER = ".passed"
#: Texts and comments of SQL.
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
#: SQL functions that differ from run to run.
_CHANGING = re.compile(
    r"\b(now|current_(date|time|timestamp)|localtimestamp|curdate|unix_timestamp|rand(n|om|str)?|uuid|shuffle)\b", re.I
)
#: A qualified table.
_TABLE = re.compile(r"\b(?:from|join)\s+((?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))+)", re.I)


class PassedTests:
    """The record of the tests that passed in a warehouse."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._queries: dict[str, str | None] = {}  # of planned tests, the digests of the queries with which they passed

    def plan(
        self, planner: Planner, test: Mapping[str, Any], definition: Mapping[str, str], full_refresh: bool
    ) -> Plan:
        """Decide whether a test is skipped (`reuse`), runs on changed groups (`replace`) or on all rows (`rebuild`).

        A test runs on changed groups alone if it names a model of group versions in its `meta`, or if its own model is
        its only input: rows of unchanged groups would pass again.
        """
        inputs, noted = planner.inputs(test["unique_id"]), self._read(test["schema"], test["unique_id"])
        self._queries[test["unique_id"]] = noted.get("query")
        is_declared = planner.versions_id(test["unique_id"]) is not None
        groups = planner.groups_of(test["unique_id"] if is_declared else test.get("attached_node") or "")
        new = Plan(REBUILD, upto=groups["upto"], history=groups["history"], inputs=inputs)
        if full_refresh or inputs is None or noted.get("definition") != digest(definition):
            return new
        if noted.get("inputs") == inputs:
            return new._replace(action=REUSE)
        is_gone_on = groups["history"] and (noted.get("groups") or {}).get("history") == groups["history"]
        is_of_one = set(inputs) == {test.get("attached_node")}
        if is_gone_on and (is_declared or is_of_one):
            return new._replace(action=REPLACE, since=noted["groups"]["upto"])
        return new

    def has_query(self, test_id: str, query: str) -> bool:
        """Whether a planned test passed with the same query, which may hold a time, or the result of another query."""
        return self._queries.get(test_id) == digest(query)

    def record(self, schema: str, test_id: str, definition: Mapping[str, str], plan: Plan, query: str) -> None:
        """Record that a test passed, and on which inputs; if this cannot be written, the test runs again next time."""
        if plan.inputs is None:
            return
        place = self._place(schema, test_id)
        noted = {
            "definition": digest(definition),
            "query": digest(query) if plan.action == REBUILD else self._queries.get(test_id),
            "inputs": plan.inputs,
            "groups": {"history": plan.history, "upto": plan.upto},
        }
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            durable_files.write_text(place, json.dumps(noted), self._warehouse.draft_path(), sync=False)

    def _read(self, schema: str, test_id: str) -> dict[str, Any]:
        try:
            return durable_files.parse_object(durable_files.read_text(self._place(schema, test_id)))
        except (OSError, ValueError):
            return {}

    def _place(self, schema: str, test_id: str) -> Path:
        name = f"{schema.lower()} {test_id}"
        return self._warehouse.root / _FOLDER / hashlib.sha256(name.encode()).hexdigest()


def is_repeatable(query: str, tables: Collection[str]) -> bool:
    """Whether a query has the same result while these tables stay: it asks for no time, and reads no other table."""
    bare = _TEXT.sub(" ", query)
    known = {plain_name(table) for table in tables}
    return not _CHANGING.search(bare) and known.issuperset(map(plain_name, _TABLE.findall(bare)))
