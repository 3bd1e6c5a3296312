"""This project as dbt parses it, shared by builds of tests: parsing takes dbt as long as a small build.

What is parsed depends on a build's schema and on the paths of its logs in names and settings alone, which are put in
afterwards; on other vars, and on which logs there are, in any way, so for each of these dbt parses once.
"""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import jinja2
from dbt.contracts.graph.manifest import Manifest
from dbt_common.dataclass_schema import dbtClassMixin

if TYPE_CHECKING:
    from conftest import DbtProject

LOGS = ("ssb_log", "pzp_log", "autobase_log", "event_log")
#: Of a parsed project: the schema that it was parsed for, and the manifest. A build writes in its manifest.
_parsed: dict[str, tuple[str, bytes]] = {}


def manifest_for(project: "DbtProject") -> Manifest:
    """Return what dbt would parse for a build of this project.

    Raises:
        AssertionError: It cannot be parsed.
    """
    logs = {name: path for name in LOGS if (path := project.vars.get(name))}
    key = json.dumps(
        [{name: value for name, value in project.vars.items() if name not in logs}, [*logs]], sort_keys=True
    )
    if key not in _parsed:
        result = project.invoke("parse", "--no-partial-parse", "--no-write-json")
        assert result.success, result.exception
        _parsed[key] = project.schema, result.result.to_msgpack()
    schema, kept = _parsed[key]
    manifest = Manifest.from_msgpack(kept)
    for node in manifest.nodes.values():
        node.schema = project.schema + node.schema.removeprefix(schema)
        if node.relation_name:
            node.relation_name = node.relation_name.replace(f"{schema}.", f"{project.schema}.", 1)
        for meta in (node.config.meta, node.meta) if hasattr(node, "meta") else ():
            meta.update({name: path for name, path in logs.items() if name in meta})
    manifest.build_flat_graph()
    return manifest


def parse_once() -> None:
    """Have dbt read a text, and validate settings, once in this process: it meets the same ones each time it parses."""
    for name in ("parse", "compile"):
        setattr(jinja2.Environment, name, _read_once(getattr(jinja2.Environment, name)))
    dbtClassMixin.validate = classmethod(_validated_once(dbtClassMixin.validate.__func__))


def _read_once(read: Callable) -> Callable:
    known = {}

    def read_once(self, source, *given):
        key = type(self), *self.extensions, source, given
        if key not in known:
            known[key] = read(self, source, *given)
        return known[key]

    return read_once


def _validated_once(validate: Callable) -> Callable:
    valid = set()

    def validate_once(cls, data):
        key = cls, repr(data)
        if key not in valid:
            validate(cls, data)
            valid.add(key)

    return validate_once
