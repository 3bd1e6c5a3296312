"""This project as dbt parses it, shared by builds of tests: parsing takes dbt as long as a small build.

A build's schema is in names and settings alone, and most vars are in the `meta` of models under the var's own name:
these are inserted afterwards. For each choice of the other vars and of the logs that are given, dbt parses once for all
processes of a run of pytest.
"""

import fcntl
import json
import os
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from dbt.contracts.graph.manifest import Manifest

if TYPE_CHECKING:
    from conftest import DbtProject

LOGS = ("ssb_log", "pzp_log", "autobase_log", "event_log")
#: Vars that a parsed project has in `meta` alone, or that dbt reads only when it builds a model.
IN_META = {*LOGS, "unpack_limit", "ancestor_limit", "base_clock_limit", "graph_limit", "rows_in_memory", "edit_limit"}
IN_META |= {"edit_command_limit", "max_previous", "ssb_log_format", "count_changes", "incremental_from"}
IN_META |= {"design_position_limit"}
#: Vars that also select the tests of documented examples, which are disabled when logs are given.
IN_META_WITH_LOGS = {"verify_signatures", "consensus_rule", "quorum_degrees", "set_ghost_span", "edit_batch_size"}
IN_META_WITH_LOGS |= {"log_timeline", "group_authority"}
#: The schema of parsed projects, which the build's own replaces.
_SCHEMA = "parsed"


def manifest_for(project: "DbtProject") -> Manifest:
    """Return the manifest that dbt would parse for a build of this project."""
    logs = {log: project.vars.get(log) or "" for log in LOGS}
    are_given = [log for log, path in logs.items() if path]
    in_meta = IN_META | IN_META_WITH_LOGS if are_given else IN_META
    decisive = {name: value for name, value in project.vars.items() if name not in in_meta}
    key = sha256(json.dumps([decisive, are_given], sort_keys=True).encode()).hexdigest()
    plain = replace(project, schema=_SCHEMA, vars=decisive | {log: path or None for log, path in logs.items()})
    manifest = Manifest.from_msgpack(_parsed(plain, folder_of_run(project.warehouse) / f"{key}.manifest"))
    given = project.vars | logs
    for node in manifest.nodes.values():
        node.schema = project.schema + node.schema.removeprefix(_SCHEMA)
        if node.relation_name:
            node.relation_name = node.relation_name.replace(f"{_SCHEMA}.", f"{project.schema}.", 1)
        if hasattr(node, "meta"):
            for meta in (node.config.meta, node.meta):
                meta.update({name: given[name] for name in in_meta & meta.keys() & given.keys()})
    manifest.build_flat_graph()
    return manifest


def folder_of_run(warehouse: Path) -> Path:
    """Return the folder that the processes of this run of pytest share."""
    own = warehouse.parent
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def _parsed(project: "DbtProject", kept: Path) -> bytes:
    """Return the parsed project as bytes, because a build changes its manifest; keep them in a file."""
    with open(kept.with_suffix(".lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            result = project.invoke("parse", "--no-partial-parse", "--no-write-json")
            assert result.success, result.exception
            kept.write_bytes(result.result.to_msgpack())
    return kept.read_bytes()
