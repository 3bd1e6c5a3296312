"""The rules of dbt-project-evaluator over a manifest, without the warehouse and package index that it requires.

A rule takes a project and returns the names that break it. Thresholds are those of dbt-project-evaluator.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

FANOUT = 3
JOINS = 7
CHAIN = 5

_LAYERS = ("staging", "intermediate", "marts")
_PREFIXES = {"stg_": "staging", "int_": "intermediate"}
_HARD_CODED = {
    "sql": re.compile(r"\b(?:from|join)\s+(?:[\w`\"\[]+\.[\w`\"\[]+|\{\{-?\s*var\()", re.I),
    "python": re.compile(r"\bspark\.(?:table|read|sql)\b[^\n]*[\"']"),
}
_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/|\{#.*?#\}|^\s*#[^\n]*", re.M | re.S)


class Project:
    """The enabled nodes of a manifest by their ids, and the parents of each."""

    def __init__(self, manifest: dict[str, Any], package: str) -> None:
        kinds = ("nodes", "sources", "exposures")
        self.all = {key: node for kind in kinds for key, node in manifest.get(kind, {}).items()}
        self.parents = {
            key: [*dict.fromkeys(node.get("depends_on", {}).get("nodes", []))] for key, node in self.all.items()
        }
        own = {key: node for key, node in self.all.items() if node["package_name"] == package}
        self.models, self.sources, self.exposures, self.tests = (
            {key: node for key, node in own.items() if node["resource_type"] == kind}
            for kind in ("model", "source", "exposure", "test")
        )

    def kind(self, key: str) -> str:
        """Return `model`, `source` or another kind of node."""
        return key.split(".")[0]

    def children(self, key: str) -> list[str]:
        """Return the models that read a node."""
        return [child for child in self.models if key in self.parents[child]]

    def layer(self, key: str) -> str:
        """Return a model's layer, from its prefix or else from its folder."""
        name = self.all[key]["name"]
        return next((layer for prefix, layer in _PREFIXES.items() if name.startswith(prefix)), self.folder(key))

    def folder(self, key: str) -> str:
        """Return the innermost folder of a layer."""
        parts = PurePosixPath(self.all[key]["original_file_path"]).parts[:-1]
        return next((part for part in reversed(parts) if part in _LAYERS), "other")

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Return pairs of a model and one of its direct parents."""
        return ((key, parent) for key in self.models for parent in self.parents[key])


def direct_join_to_source(project: Project) -> set[str]:
    """Models that read both a source and a model."""
    kinds = {key: {project.kind(parent) for parent in project.parents[key]} for key in project.models}
    return {project.models[key]["name"] for key, found in kinds.items() if {"model", "source"} <= found}


def duplicate_sources(project: Project) -> set[str]:
    """Tables that two sources declare."""
    places = Counter((source["schema"], source["identifier"]) for source in project.sources.values())
    return {f"{schema}.{table}" for (schema, table), count in places.items() if count > 1}


def hard_coded_references(project: Project) -> set[str]:
    """Models that name a table in place of a model."""
    return {
        model["name"]
        for model in project.models.values()
        if _HARD_CODED[model["language"]].search(_COMMENTS.sub("", model["raw_code"]))
    }


def marts_or_intermediate_dependent_on_source(project: Project) -> set[str]:
    """Models behind staging that read a source."""
    return {
        project.models[key]["name"]
        for key, parent in project.pairs()
        if project.kind(parent) == "source" and project.layer(key) in ("intermediate", "marts")
    }


def model_fanout(project: Project) -> set[str]:
    """Models that feed three or more models without children."""
    return {
        model["name"]
        for key, model in project.models.items()
        if sum(not project.children(child) for child in project.children(key)) >= FANOUT
    }


def multiple_sources_joined(project: Project) -> set[str]:
    """Models that read two sources."""
    found = Counter(key for key, parent in project.pairs() if project.kind(parent) == "source")
    return {project.models[key]["name"] for key, count in found.items() if count > 1}


def rejoining_of_upstream_concepts(project: Project) -> set[str]:
    """Models with a single child that also reads one of their parents directly."""
    return {
        project.all[between]["name"]
        for child in project.models
        for between in project.parents[child]
        if project.kind(between) == "model"
        and project.children(between) == [child]
        and {*project.parents[between]} & {*project.parents[child]}
    }


def root_models(project: Project) -> set[str]:
    """Models without inputs."""
    return {model["name"] for key, model in project.models.items() if not project.parents[key]}


def source_fanout(project: Project) -> set[str]:
    """Sources that two models read."""
    found = Counter(parent for _, parent in project.pairs() if project.kind(parent) == "source")
    return {project.all[key]["name"] for key, count in found.items() if count > 1}


def staging_dependent_on_marts_or_intermediate(project: Project) -> set[str]:
    """Staging models that read a model of a later layer."""
    return {
        project.models[key]["name"]
        for key, parent in project.pairs()
        if project.kind(parent) == "model"
        and project.layer(key) == "staging"
        and project.layer(parent) in ("intermediate", "marts")
    }


def staging_dependent_on_staging(project: Project) -> set[str]:
    """Staging models that read staging models."""
    return {
        project.models[key]["name"]
        for key, parent in project.pairs()
        if project.kind(parent) == "model" and project.layer(key) == project.layer(parent) == "staging"
    }


def too_many_joins(project: Project) -> set[str]:
    """Models that read seven or more others."""
    return {model["name"] for key, model in project.models.items() if len(project.parents[key]) >= JOINS}


def unused_sources(project: Project) -> set[str]:
    """Sources without a reader."""
    read = {parent for parents in project.parents.values() for parent in parents}
    return {source["name"] for key, source in project.sources.items() if key not in read}


def undocumented_models(project: Project) -> set[str]:
    """Models without a description."""
    return {model["name"] for model in project.models.values() if not model["description"].strip()}


def undocumented_sources(project: Project) -> set[str]:
    """Sources without a description of the source or its table."""
    return {
        source["name"]
        for source in project.sources.values()
        if not (source["description"].strip() and source["source_description"].strip())
    }


def exposures_dependent_on_private_models(project: Project) -> set[str]:
    """Exposures that read a private model."""
    return {
        exposure["name"]
        for key, exposure in project.exposures.items()
        if any(project.all[parent].get("access") != "public" for parent in project.parents[key])
    }


def public_models_without_contract(project: Project) -> set[str]:
    """Public models without a contract."""
    return {
        model["name"]
        for model in project.models.values()
        if model["access"] == "public" and not model["config"]["contract"]["enforced"]
    }


def undocumented_public_models(project: Project) -> set[str]:
    """Public models with an undescribed column."""
    return {
        model["name"]
        for model in project.models.values()
        if model["access"] == "public"
        and not (
            model["description"].strip()
            and model["columns"]
            and all(column["description"].strip() for column in model["columns"].values())
        )
    }


def chained_views(project: Project) -> set[str]:
    """Models behind a chain of views."""

    def length(key: str) -> int:
        parents = [parent for parent in project.parents.get(key, []) if project.kind(parent) == "model"]
        views = [parent for parent in parents if project.all[parent]["config"]["materialized"] in ("view", "ephemeral")]
        return 1 + max(map(length, views), default=0)

    return {model["name"] for key, model in project.models.items() if length(key) > CHAIN}


def exposure_parents_materializations(project: Project) -> set[str]:
    """Exposures that read a view or a source."""
    return {
        exposure["name"]
        for key, exposure in project.exposures.items()
        for parent in project.parents[key]
        if project.kind(parent) == "source" or project.all[parent]["config"]["materialized"] in ("view", "ephemeral")
    }


def model_directories(project: Project) -> set[str]:
    """Models outside the folder of their layer."""
    return {model["name"] for key, model in project.models.items() if project.layer(key) != project.folder(key)}


def model_naming_conventions(project: Project) -> set[str]:
    """Models without the prefix of their folder; dbt-project-evaluator requires `fct_` or `dim_` for marts."""
    prefixes = {"staging": ("stg_",), "intermediate": ("int_",), "marts": ("fct_", "dim_"), "other": ("rpt_",)}
    return {
        model["name"]
        for key, model in project.models.items()
        if not model["name"].startswith(prefixes[project.folder(key)])
    }


def source_directories(project: Project) -> set[str]:
    """Sources that are declared outside a folder of their name below staging."""
    return {
        source["name"]
        for key, source in project.sources.items()
        if project.folder(key) != "staging"
        or source["source_name"] not in PurePosixPath(source["original_file_path"]).parts
    }


def test_directories(project: Project) -> set[str]:
    """Tests of one model that are declared in another folder than the model."""
    return {
        test["name"]
        for test in project.tests.values()
        if (model := project.models.get(test.get("attached_node") or ""))
        and PurePosixPath(test["original_file_path"]).parent != PurePosixPath(model["original_file_path"]).parent
    }


test_directories.__test__ = False  # the rule has dbt-project-evaluator's name


def missing_primary_key_tests(project: Project) -> set[str]:
    """Models without a test of their primary key: `unique` with `not_null`, or a `primary_key` of `row_rules`."""
    tested: dict[str, set[str]] = {}
    for test in project.tests.values():
        metadata = test.get("test_metadata") or {}
        given = metadata.get("kwargs", {})
        kind = "primary_key" if given.get("arguments", given).get("primary_key") else metadata.get("name", "")
        tested.setdefault(test.get("attached_node") or "", set()).add(kind)
    enough = ({"unique", "not_null"}, {"primary_key"})
    return {
        model["name"]
        for key, model in project.models.items()
        if not any(names <= tested.get(key, set()) for names in enough)
    }


def sources_without_freshness(project: Project) -> set[str]:
    """Sources without a freshness check."""
    return {
        source["name"]
        for source in project.sources.values()
        if not any((source.get("freshness") or {}).get(kind) for kind in ("warn_after", "error_after"))
    }


RULES: dict[str, Callable[[Project], set[str]]] = {
    rule.__name__: rule
    for rule in (
        direct_join_to_source,
        duplicate_sources,
        hard_coded_references,
        marts_or_intermediate_dependent_on_source,
        model_fanout,
        multiple_sources_joined,
        rejoining_of_upstream_concepts,
        root_models,
        source_fanout,
        staging_dependent_on_marts_or_intermediate,
        staging_dependent_on_staging,
        too_many_joins,
        unused_sources,
        undocumented_models,
        undocumented_sources,
        exposures_dependent_on_private_models,
        public_models_without_contract,
        undocumented_public_models,
        chained_views,
        exposure_parents_materializations,
        model_directories,
        model_naming_conventions,
        source_directories,
        test_directories,
        missing_primary_key_tests,
        sources_without_freshness,
    )
}
