"""Checks the graph of a project that installs a package, before the first model is built."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

#: A test with this tag leaves out tables that do not exist.
SKIPS_MISSING = "skips_missing_tables"
# The tables and tests that an error names.
_MOST_NAMED = 5

Nodes = Mapping[str, Mapping[str, Any]]


def find_confusions(nodes: Nodes, package: str, readers: Collection[str]) -> list[str]:
    """Find models of other packages that dbt confuses with models of the package that have the same name.

    Unless a flag is set, `ref` in a model of the package, other than its `readers` of other packages, finds a model of
    that name in the installing project. And the yml of a disabled model of the package applies to any other model of
    its name.
    """
    faults = []
    for node in nodes.values():
        if node["package_name"] != package and (node.get("patch_path") or "").startswith(f"{package}://"):
            faults.append(
                f"{node['unique_id']} has the name of a disabled model of {package}, and dbt would apply the yml of "
                f"that model to it: rename this model, or enable the model of {package}"
            )
        if node["package_name"] == package and node["name"] not in readers:
            for parent in _parents(node):
                if parent.split(".")[1] != package:
                    faults.append(
                        f"{node['name']} of {package} would read {parent}, which has the name of a model of {package}. "
                        "Say in dbt_project.yml flags: {require_ref_searches_node_package_before_root: true}"
                    )
    return faults


def find_private_reads(nodes: Nodes, package: str) -> list[str]:
    """Find readers of the package's private models in other packages, even in models of the package's own dbt group."""
    return [
        f"{node['unique_id']} reads {parent}, which is private: only the public models of {package} may be read in "
        "other projects: ref one of them instead"
        for node in nodes.values()
        if node["package_name"] != package
        for parent in _parents(node)
        if parent.split(".")[1] == package and nodes.get(parent, {}).get("access") == "private"
    ]


def explain_missing_tables(
    nodes: Nodes, tests: Collection[str], exists: Callable[[str], bool], remedy: str | None, leaves_out: bool
) -> str | None:
    """Name the tests whose tables are neither built nor selected; None if there are none.

    Args:
        nodes: The nodes of dbt's graph.
        tests: The ids of the selected tests.
        exists: Whether the table of a node exists, or the command builds it.
        remedy: The option that leaves out such tests; None to exclude them by name.
        leaves_out: Whether tests tagged `SKIPS_MISSING` leave out missing tables of models.
    """
    refused, missing = set(), set()
    for test in tests:
        skips = leaves_out and SKIPS_MISSING in (nodes[test].get("tags") or [])
        for parent in _parents(nodes[test]):
            is_left_out = parent not in nodes or (skips and parent.startswith("model."))
            if not is_left_out and not exists(parent):
                refused.add(nodes[test]["name"])
                missing.add(f"{nodes[parent]['schema']}.{nodes[parent]['alias']}")
    if not refused:
        return None
    return (
        f"{len(refused)} of the selected tests read tables that are not built and not selected: "
        f"{_list(missing, ', ')}. Build these first, or leave such tests out: "
        f"{remedy or '--exclude ' + _list(refused, ' ')}"
    )


def _list(names: Collection[str], between: str) -> str:
    more = f"{between}…" if len(names) > _MOST_NAMED else ""
    return between.join(sorted(names)[:_MOST_NAMED]) + more


def _parents(node: Mapping[str, Any]) -> list[str]:
    return node["depends_on"].get("nodes") or []
