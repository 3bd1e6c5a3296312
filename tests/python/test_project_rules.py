"""The ecosystem's rules for projects: each is kept, or the decision record states an exception with its reason."""

import re
from copy import deepcopy
from fnmatch import fnmatchcase

import pytest

from conftest import ROOT
from project_rules import RULES, Project

RECORD = ROOT / "docs" / "adr" / "034-rules-of-the-ecosystem.md"


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
def project_of_ours(manifest) -> Project:
    return Project(manifest.writable_manifest().to_dict(omit_none=False), "tangles")


def test_exceptions_name_existing_rules():
    assert exceptions().keys() <= RULES.keys()
    assert sum(map(len, exceptions().values())) > 10


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_kept(rule, project_of_ours):
    """Each rule is broken by its exceptions alone, and each exception is still necessary."""
    broken, allowed = RULES[rule](project_of_ours), exceptions().get(rule, [])
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
    """Each model has the tag of its layer and of its system, if it has one, and all tests have `tangles_tests`."""
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


def node(kind: str, name: str, path: str, parents=(), **more) -> dict:
    """One entry of a manifest."""
    return {
        "name": name,
        "resource_type": kind,
        "package_name": "p",
        "original_file_path": path,
        "depends_on": {"nodes": [*parents]},
        "description": "What it is.",
        **more,
    }


def model(name: str, folder: str, *parents: str, **more) -> dict:
    """A model that keeps all rules."""
    config = {"materialized": "table", "contract": {"enforced": True}}
    defaults = {"access": "public", "config": config, "language": "sql", "columns": {"id": {"description": "The id."}}}
    return node("model", name, f"{folder}/{name}.sql", parents, raw_code="select 1", **{**defaults, **more})


def sound() -> dict:
    """A manifest that keeps all rules: a source, three layers, an exposure, and a test of each model."""
    nodes = {
        f"model.p.{each['name']}": each
        for each in (
            model("stg_shop__orders", "models/staging/shop", "source.p.shop.orders"),
            model("int_orders", "models/intermediate", "model.p.stg_shop__orders", access="private"),
            model("fct_orders", "models/marts", "model.p.int_orders"),
        )
    }
    for key, each in [*nodes.items()]:
        path = each["original_file_path"].replace(".sql", ".yml")
        rules = {"name": "row_rules", "kwargs": {"primary_key": ["id"]}}
        tested = {"attached_node": key, "test_metadata": rules}
        nodes[f"test.p.{each['name']}"] = node("test", f"of_{each['name']}", path, [key], **tested)
    orders = node("source", "orders", "models/staging/shop/shop.yml", schema="raw", identifier="orders")
    orders |= {"source_name": "shop", "source_description": "The shop.", "freshness": {"warn_after": {"count": 1}}}
    page = node("exposure", "page", "models/exposures.yml", ["model.p.fct_orders"])
    return {"nodes": nodes, "sources": {"source.p.shop.orders": orders}, "exposures": {"exposure.p.page": page}}


def read(manifest: dict, name: str, *parents: str) -> None:
    """Let a model read more inputs."""
    manifest["nodes"][f"model.p.{name}"]["depends_on"]["nodes"] += parents


def add(manifest: dict, *models: dict) -> None:
    """Add models, each with a test."""
    manifest["nodes"] |= {f"model.p.{each['name']}": each for each in models}


def more_sources(manifest: dict, *names: str) -> None:
    """Add sources like the existing one."""
    first = manifest["sources"]["source.p.shop.orders"]
    for name in names:
        manifest["sources"][f"source.p.shop.{name}"] = {**deepcopy(first), "name": name, "identifier": name}


def of(name: str):
    """Return a function that changes a model."""
    return lambda manifest: manifest["nodes"][f"model.p.{name}"]


def leaves(manifest: dict) -> None:
    add(manifest, *(model(f"fct_{name}", "models/marts", "model.p.int_orders") for name in ("days", "weeks")))


def between(manifest: dict) -> None:
    add(manifest, model("int_between", "models/intermediate", "model.p.int_orders"))
    read(manifest, "fct_orders", "model.p.int_between")


def two_of_a_source(manifest: dict) -> None:
    add(manifest, model("stg_shop__more", "models/staging/shop", "source.p.shop.orders"))


def seven_parents(manifest: dict) -> None:
    add(manifest, *(model(f"int_{i}", "models/intermediate", "model.p.stg_shop__orders") for i in range(6)))
    read(manifest, "fct_orders", *(f"model.p.int_{i}" for i in range(6)))


def views(manifest: dict) -> None:
    before = "model.p.stg_shop__orders"
    for i in range(5):
        add(manifest, model(f"int_view_{i}", "models/intermediate", before, config={"materialized": "view"}))
        before = f"model.p.int_view_{i}"
    read(manifest, "int_orders", before)


#: For each rule, the change with which a sound project breaks it, and the names that then break it.
TWINS = {
    "direct_join_to_source": (lambda m: read(m, "int_orders", "source.p.shop.orders"), {"int_orders"}),
    "duplicate_sources": (
        lambda m: (more_sources(m, "again"), m["sources"]["source.p.shop.again"].update(identifier="orders")),
        {"raw.orders"},
    ),
    "hard_coded_references": (
        lambda m: of("int_orders")(m).update(raw_code="select 1\nfrom raw.orders as orders"),
        {"int_orders"},
    ),
    "marts_or_intermediate_dependent_on_source": (
        lambda m: read(m, "fct_orders", "source.p.shop.orders"),
        {"fct_orders"},
    ),
    "model_fanout": (leaves, {"int_orders"}),
    "multiple_sources_joined": (
        lambda m: (more_sources(m, "items"), read(m, "stg_shop__orders", "source.p.shop.items")),
        {"stg_shop__orders"},
    ),
    "rejoining_of_upstream_concepts": (between, {"int_between"}),
    "root_models": (lambda m: of("int_orders")(m).update(depends_on={"nodes": []}), {"int_orders"}),
    "source_fanout": (two_of_a_source, {"orders"}),
    "staging_dependent_on_marts_or_intermediate": (
        lambda m: read(m, "stg_shop__orders", "model.p.fct_orders"),
        {"stg_shop__orders"},
    ),
    "staging_dependent_on_staging": (
        lambda m: add(m, model("stg_shop__more", "models/staging/shop", "model.p.stg_shop__orders")),
        {"stg_shop__more"},
    ),
    "too_many_joins": (seven_parents, {"fct_orders"}),
    "unused_sources": (lambda m: more_sources(m, "items"), {"items"}),
    "undocumented_models": (lambda m: of("int_orders")(m).update(description=" "), {"int_orders"}),
    "undocumented_sources": (
        lambda m: m["sources"]["source.p.shop.orders"].update(source_description=""),
        {"orders"},
    ),
    "exposures_dependent_on_private_models": (
        lambda m: m["exposures"]["exposure.p.page"]["depends_on"]["nodes"].append("model.p.int_orders"),
        {"page"},
    ),
    "public_models_without_contract": (
        lambda m: of("fct_orders")(m)["config"].update(contract={"enforced": False}),
        {"fct_orders"},
    ),
    "undocumented_public_models": (
        lambda m: of("fct_orders")(m)["columns"].update(more={"description": ""}),
        {"fct_orders"},
    ),
    "chained_views": (views, {"int_orders"}),
    "exposure_parents_materializations": (
        lambda m: of("fct_orders")(m)["config"].update(materialized="view"),
        {"page"},
    ),
    "model_directories": (
        lambda m: of("int_orders")(m).update(original_file_path="models/marts/int_orders.sql"),
        {"int_orders"},
    ),
    "model_naming_conventions": (lambda m: of("fct_orders")(m).update(name="orders"), {"orders"}),
    "source_directories": (
        lambda m: m["sources"]["source.p.shop.orders"].update(original_file_path="models/staging/bank/shop.yml"),
        {"orders"},
    ),
    "test_directories": (
        lambda m: m["nodes"]["test.p.fct_orders"].update(original_file_path="models/staging/tests.yml"),
        {"of_fct_orders"},
    ),
    "missing_primary_key_tests": (
        lambda m: m["nodes"]["test.p.fct_orders"]["test_metadata"].update(name="not_null", kwargs={}),
        {"fct_orders"},
    ),
    "sources_without_freshness": (
        lambda m: m["sources"]["source.p.shop.orders"].update(freshness=None),
        {"orders"},
    ),
}


def test_a_sound_project_breaks_no_rule():
    assert {name: broken for name, rule in RULES.items() if (broken := rule(Project(sound(), "p")))} == {}


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_finds_a_violation(rule):
    change, broken = TWINS[rule]
    manifest = sound()
    change(manifest)
    assert RULES[rule](Project(manifest, "p")) == broken
