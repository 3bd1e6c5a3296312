"""The rules of dbt-project-evaluator, on the manifest: each is kept, or the decision record has an exception.

Names and thresholds are those of dbt-project-evaluator. Its rules about sources are left out: there are no sources.
"""

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

import pytest

from conftest import ROOT

RECORD = ROOT / "docs" / "adr" / "019-dbt-rules.md"
FANOUT, JOINS, CHAIN = 3, 7, 5
PREFIXES = {"staging": ("stg_",), "intermediate": ("int_",), "marts": ("fct_", "dim_"), "other": ("rpt_",)}
HARD_CODED = {
    "sql": re.compile(r"\b(?:from|join)\s+(?:[\w`\"\[]+\.[\w`\"\[]+|\{\{-?\s*var\()", re.I),
    "python": re.compile(r"\bspark\.(?:table|read|sql)\b[^\n]*[\"']"),
}
COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/|\{#.*?#\}|^\s*#[^\n]*", re.M | re.S)


class Project:
    """The enabled nodes of a manifest by their ids, and the parents of each."""

    def __init__(self, manifest: dict[str, Any], package: str) -> None:
        self.all = manifest["nodes"] | manifest["exposures"]
        self.parents = {
            key: [*dict.fromkeys(node.get("depends_on", {}).get("nodes", []))] for key, node in self.all.items()
        }
        own = {key: node for key, node in self.all.items() if node["package_name"] == package}
        self.models, self.exposures, self.tests = (
            {key: node for key, node in own.items() if node["resource_type"] == kind}
            for kind in ("model", "exposure", "test")
        )

    def model_parents(self, key: str) -> list[str]:
        """Return the models that a model reads."""
        return [parent for parent in self.parents[key] if parent.startswith("model.")]

    def children(self, key: str) -> list[str]:
        """Return the models that read a node."""
        return [child for child in self.models if key in self.parents[child]]

    def layer(self, key: str) -> str:
        """Return a model's layer, from its prefix or else from its folder."""
        name = self.all[key]["name"]
        prefixes = {"stg_": "staging", "int_": "intermediate"}
        return next((layer for prefix, layer in prefixes.items() if name.startswith(prefix)), self.folder(key))

    def folder(self, key: str) -> str:
        """Return the innermost folder of a layer."""
        parts = PurePosixPath(self.all[key]["original_file_path"]).parts[:-1]
        return next((part for part in reversed(parts) if part in PREFIXES), "other")

    def is_view(self, key: str) -> bool:
        """Whether a model has no table."""
        return self.all[key]["config"]["materialized"] in ("view", "ephemeral")

    def layers_of_parents(self, key: str) -> set[str]:
        """Return the layers of the models that a model reads."""
        return {self.layer(parent) for parent in self.model_parents(key)}

    def chain_of_views(self, key: str) -> int:
        """Return the length of the longest chain of views behind a model, with the model."""
        return 1 + max(map(self.chain_of_views, filter(self.is_view, self.model_parents(key))), default=0)

    def has_primary_key(self, key: str) -> bool:
        """Whether a model has the tests `unique` and `not_null`, or `row_rules` and a primary key."""
        tests = [test for test in self.tests.values() if test.get("attached_node") == key]
        found = {(test.get("test_metadata") or {}).get("name") for test in tests}
        has_key = any(each["type"] == "primary_key" for each in self.all[key].get("constraints") or [])
        return (has_key and "row_rules" in found) or {"unique", "not_null"} <= found

    def rejoined(self, key: str) -> Iterator[str]:
        """List the parents of a model whose only child it is, and one of whose parents it reads directly."""
        for between in self.model_parents(key):
            if self.children(between) == [key] and {*self.parents[between]} & {*self.parents[key]}:
                yield self.all[between]["name"]


def is_described(model: dict) -> bool:
    columns = model["columns"].values()
    return bool(model["description"].strip() and columns and all(each["description"].strip() for each in columns))


def is_public(model: dict) -> bool:
    return model["access"] == "public"


#: Rules about each model: whether a model breaks the rule.
OF_MODELS: dict[str, Callable[[Project, str, dict], bool]] = {
    "hard_coded_references": lambda p, key, m: bool(
        HARD_CODED[m["language"]].search(COMMENTS.sub("", m["raw_code"])),
    ),
    "model_fanout": lambda p, key, m: sum(not p.children(child) for child in p.children(key)) >= FANOUT,
    "root_models": lambda p, key, m: not p.parents[key],
    "staging_dependent_on_marts_or_intermediate": lambda p, key, m: (
        p.layer(key) == "staging" and bool({"intermediate", "marts"} & p.layers_of_parents(key))
    ),
    "staging_dependent_on_staging": lambda p, key, m: (
        p.layer(key) == "staging" and "staging" in p.layers_of_parents(key)
    ),
    "too_many_joins": lambda p, key, m: len(p.parents[key]) >= JOINS,
    "undocumented_models": lambda p, key, m: not m["description"].strip(),
    "public_models_without_contract": lambda p, key, m: is_public(m) and not m["config"]["contract"]["enforced"],
    "undocumented_public_models": lambda p, key, m: is_public(m) and not is_described(m),
    "chained_views": lambda p, key, m: p.chain_of_views(key) > CHAIN,
    "model_directories": lambda p, key, m: p.layer(key) != p.folder(key),
    "model_naming_conventions": lambda p, key, m: not m["name"].startswith(PREFIXES[p.folder(key)]),
    "missing_primary_key_tests": lambda p, key, m: not p.has_primary_key(key),
}
#: Rules about the parents of each exposure: whether a parent breaks the rule.
OF_EXPOSURES: dict[str, Callable[[Project, str], bool]] = {
    "exposures_dependent_on_private_models": lambda p, parent: not is_public(p.all[parent]),
    "exposure_parents_materializations": Project.is_view,
}


def misplaced_tests(project: Project) -> set[str]:
    """Tests of one model that are declared in another folder than the model."""
    return {
        test["name"]
        for test in project.tests.values()
        if (model := project.models.get(test.get("attached_node") or ""))
        and PurePosixPath(test["original_file_path"]).parent != PurePosixPath(model["original_file_path"]).parent
    }


RULES = [*OF_MODELS, *OF_EXPOSURES, "rejoining_of_upstream_concepts", "test_directories"]


def broken_by(rule: str, project: Project) -> set[str]:
    """Return the names that break a rule."""
    if rule in OF_MODELS:
        return {model["name"] for key, model in project.models.items() if OF_MODELS[rule](project, key, model)}
    if rule in OF_EXPOSURES:
        return {
            exposure["name"]
            for key, exposure in project.exposures.items()
            if any(OF_EXPOSURES[rule](project, parent) for parent in project.parents[key])
        }
    if rule == "test_directories":
        return misplaced_tests(project)
    return {name for key in project.models for name in project.rejoined(key)}


def exceptions() -> dict[str, list[str]]:
    """Return the name patterns of each rule's exceptions, from the table with the reasons."""
    text = RECORD.read_text().split("## Generic tests")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", text, re.M)
    found: dict[str, list[str]] = {}
    for rule, names, reason in rows:
        assert len(reason.split()) > 5, f"{rule}: the reason of its exception is missing or too short"
        found.setdefault(rule, []).extend(re.findall(r"`([^`]+)`", names))
    return found


@pytest.fixture(scope="module")
def of_ours(manifest) -> Project:
    found = manifest.writable_manifest().to_dict(omit_none=False)
    assert found["sources"] == {}, "add the rules of dbt-project-evaluator about sources"
    return Project(found, "tangles")


def test_exceptions_name_existing_rules():
    assert exceptions().keys() <= {*RULES}
    assert sum(map(len, exceptions().values())) > 10


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_kept(rule, of_ours):
    """Each rule is broken by its exceptions alone, and each exception is still necessary."""
    broken, allowed = broken_by(rule, of_ours), exceptions().get(rule, [])
    assert {name for name in broken if not any(fnmatchcase(name, pattern) for pattern in allowed)} == set()
    assert [pattern for pattern in allowed if not any(fnmatchcase(name, pattern) for name in broken)] == []


def test_tables_of_groups_are_built_behind_their_versions(manifest):
    """Each model that names a model of versions has it among its ancestors, so dbt builds the versions first."""
    nodes = manifest.nodes

    def ancestors(node_id: str) -> set[str]:
        parents = {parent for parent in nodes[node_id].depends_on_nodes if parent in nodes}
        return parents.union(*map(ancestors, parents))

    named = {node_id: (node.config.meta or {}).get("group_versions") for node_id, node in nodes.items()}
    of_grains = {node_id: f"model.tangles.{versions}" for node_id, versions in named.items() if versions}
    assert len(of_grains) > 50
    assert [node_id for node_id, versions in of_grains.items() if versions not in ancestors(node_id)] == []


#: The folders of each system.
SYSTEMS = {
    "ssb": {"ssb", "feeds", "tangles", "groups"},
    "pzp": {"pzp", "sets"},
    "autobase": {"autobase"},
    "timelines": {"events", "timelines"},
    "runs": {"runs"},
}


def test_models_and_tests_have_their_tags(manifest):
    models = {node.name: node for node in manifest.nodes.values() if node.resource_type == "model"}
    assert len(models) > 90
    for name, model in models.items():
        *_, layer, folder, _ = model.original_file_path.split("/")
        systems = {system for system, folders in SYSTEMS.items() if folder in folders}
        assert {*model.tags} == {layer, *systems}, name
        assert systems or folder == "tables", name
    tests = [node for node in manifest.nodes.values() if node.resource_type == "test"]
    assert len(tests) > 100
    assert [
        test.name for test in [*tests, *manifest.unit_tests.values()] if "tangles_tests" not in test.config.tags
    ] == []


def test_keys_are_quiet_and_name_tables_of_the_same_systems(manifest):
    """A foreign key has the columns of the other table's primary key; dbt warns of no key of a public table."""
    models = {node.name: node for node in manifest.nodes.values() if node.resource_type == "model"}
    keys = [(model, key) for model in models.values() if model.access == "public" for key in model.constraints]
    primary = {model.name: key.columns for model, key in keys if key.type == "primary_key"}
    assert len(primary) > 45 and len(keys) - len(primary) > 40
    assert not any(key.warn_unenforced or key.warn_unsupported for _, key in keys)
    for model, key in keys:
        assert {*key.columns} <= model.columns.keys(), model.name
        if key.type == "foreign_key":
            assert len(key.columns) == len(primary[key.expression]), model.name
            assert {*models[key.expression].tags} == {*model.tags}, model.name
