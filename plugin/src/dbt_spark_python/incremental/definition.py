"""Digests the definition of a node: everything that decides its rows apart from the rows of its inputs."""

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dbt_spark_python.table_store.integrity import digest_file

#: Distributions whose versions are part of every definition.
_VERSIONED = ("dbt-core", "dbt-spark", "pyspark", "pysail", "pyarrow", "numpy", "numba")
_VAR = re.compile(r"\bvar\(\s*['\"](\w+)['\"]")
_CODE = ("raw_code", "language", "checksum", "test_metadata")
#: Configs that select, describe or protect a node, but leave its rows as they are.
_WITHOUT_EFFECT = ("access", "docs", "group", "tags")
#: The part of a definition that digests the definitions of all inputs.
INPUTS = "inputs"

Definition = dict[str, str]


class Definitions:
    """Computes the definitions of a project's nodes, and caches them; `vars_of` returns the vars that a node sees.

    Nodes, as dictionaries, and macros, as objects, are those of dbt, by their ids.
    """

    def __init__(
        self,
        nodes: Mapping[str, Mapping[str, Any]],
        macros: Mapping[str, Any],
        vars_of: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        engine: str,
    ) -> None:
        self._nodes, self._macros, self._vars_of, self._engine = nodes, macros, vars_of, engine
        self._known: dict[str, Definition] = {}
        own = [(name, macro.macro_sql) for name, macro in macros.items() if _is_own(macro)]
        self._macros_digest = digest(sorted(own))

    def of(self, node_id: str) -> Definition:
        """Return the digests of the parts of a node's definition; empty for a source."""
        if node_id not in self._nodes:
            return {}
        if node_id not in self._known:
            self._known[node_id] = self._describe(self._nodes[node_id])
        return self._known[node_id]

    def _describe(self, node: Mapping[str, Any]) -> Definition:
        config = {name: value for name, value in node["config"].items() if name not in _WITHOUT_EFFECT}
        meta = dict(config.get("meta") or {})
        reads = meta.get("reads") or {}
        # The path of a log may differ from night to night: its bytes count (see `plan`), its path does not.
        config["meta"] = {name: value for name, value in meta.items() if name not in reads.get("paths", [])}
        parents = sorted(node["depends_on"].get("nodes") or [])
        return {
            "code": digest([*(node.get(key) for key in _CODE), _digest_seed(node)]),
            "config": digest(config),
            "columns": digest([*_typed(node.get("columns") or {}), node.get("contract"), node.get("constraints")]),
            "vars": digest(self._read_vars(node)),
            "macros": self._macros_digest,
            "environment": digest({name: os.environ.get(name) for name in reads.get("variables", [])}),
            "packages": digest({name: digest_package(name) for name in meta.get("ship_packages") or []}),
            "versions": digest([self._engine, versions()]),
            INPUTS: digest([[parent, self.of(parent)] for parent in parents]),
        }

    def _read_vars(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the vars that a node's code names, directly or in a macro that it calls."""
        names, waiting, seen = set(_VAR.findall(node.get("raw_code") or "")), list(node["depends_on"]["macros"]), set()
        while waiting:
            macro = self._macros.get(waiting.pop())
            if macro is not None and _is_own(macro) and macro.unique_id not in seen:
                seen.add(macro.unique_id)
                names.update(_VAR.findall(macro.macro_sql))
                waiting += macro.depends_on.macros
        values = self._vars_of(node)
        return {name: values.get(name) for name in sorted(names)}


def changed_parts(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Name the parts in which two definitions differ; `inputs` only if all other parts are equal."""
    parts = [part for part in now if part != INPUTS and before.get(part) != now[part]]
    return parts or [INPUTS] * (before.get(INPUTS) != now.get(INPUTS))


def digest(value: Any) -> str:
    """Digest a value as JSON; other types are digested by their text."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


@cache
def digest_package(name: str) -> str:
    """Digest the files of an importable package; only the name if the package is not installed."""
    spec = importlib.util.find_spec(name)
    found = hashlib.sha256(name.encode())
    for root in sorted(spec.submodule_search_locations or []) if spec else []:
        for file in sorted(Path(root).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                content = file.read_bytes()
                found.update(f"{file.relative_to(root).as_posix()} {len(content)} ".encode() + content)
    return found.hexdigest()


@cache
def versions() -> dict[str, str]:
    """Return the versions of dbt, the engines and this plugin."""
    found = {package.metadata["Name"]: package.version for package in importlib.metadata.distributions()}
    plugin = __package__.partition(".")[0]
    return {name: found[name] for name in _VERSIONED if name in found} | {"plugin": digest_package(plugin)}


def _digest_seed(node: Mapping[str, Any]) -> str | None:
    """Digest the file of a large seed, for which dbt stores the path instead of a checksum."""
    if (node.get("checksum") or {}).get("name") != "path":
        return None
    file = Path(node["root_path"], node["original_file_path"])
    return digest_file(file) if file.is_file() else None


def _is_own(macro: Any) -> bool:
    return macro.package_name not in ("dbt", "dbt_spark")


def _typed(columns: Mapping[str, Mapping[str, Any]]) -> list[list]:
    """Return the names, types and constraints of a node's columns, without their descriptions."""
    return [[name, column.get("data_type"), column.get("constraints")] for name, column in columns.items()]
