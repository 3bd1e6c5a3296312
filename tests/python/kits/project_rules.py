"""The rules of dbt-project-evaluator, over a manifest. That package takes a warehouse and a package index to run.

A rule takes a project and returns the names of nodes that break it. Its thresholds are that package's.
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
        """The resource type of a node: `model`, `source` and so on."""
        return key.split(".")[0]

    def children(self, key: str) -> list[str]:
        """The models that read it."""
        return [child for child in self.models if key in self.parents[child]]

    def layer(self, key: str) -> str:
        """By a model's prefix, or else its folder."""
        name = self.all[key]["name"]
        return next((layer for prefix, layer in _PREFIXES.items() if name.startswith(prefix)), self.folder(key))

    def folder(self, key: str) -> str:
        """The innermost folder that is a layer's."""
        parts = PurePosixPath(self.all[key]["original_file_path"]).parts[:-1]
        return next((part for part in reversed(parts) if part in _LAYERS), "other")

    def pairs(self) -> Iterator[tuple[str, str]]:
        """A model, and one of its direct parents."""
        return ((key, parent) for key in self.models for parent in self.parents[key])


def direct_join_to_source(project: Project) -> set[str]:
    """A model reads both a source and a model."""
    kinds = {key: {project.kind(parent) for parent in project.parents[key]} for key in project.models}
    return {project.models[key]["name"] for key, found in kinds.items() if {"model", "source"} <= found}


def duplicate_sources(project: Project) -> set[str]:
    """Two sources are one table."""
    places = Counter((source["schema"], source["identifier"]) for source in project.sources.values())
    return {f"{schema}.{table}" for (schema, table), count in places.items() if count > 1}


def hard_coded_references(project: Project) -> set[str]:
    """A model names a table, and not a model."""
    return {
        model["name"]
        for model in project.models.values()
        if _HARD_CODED[model["language"]].search(_COMMENTS.sub("", model["raw_code"]))
    }


def marts_or_intermediate_dependent_on_source(project: Project) -> set[str]:
    """A source is read behind staging."""
    return {
        project.models[key]["name"]
        for key, parent in project.pairs()
        if project.kind(parent) == "source" and project.layer(key) in ("intermediate", "marts")
    }


def model_fanout(project: Project) -> set[str]:
    """A model feeds three or more models without children."""
    return {
        model["name"]
        for key, model in project.models.items()
        if sum(not project.children(child) for child in project.children(key)) >= FANOUT
    }


def multiple_sources_joined(project: Project) -> set[str]:
    """A model reads two sources."""
    found = Counter(key for key, parent in project.pairs() if project.kind(parent) == "source")
    return {project.models[key]["name"] for key, count in found.items() if count > 1}


def rejoining_of_upstream_concepts(project: Project) -> set[str]:
    """A model reads another one directly and through a third, whose only reader it is: the third's name."""
    return {
        project.all[between]["name"]
        for child in project.models
        for between in project.parents[child]
        if project.kind(between) == "model"
        and project.children(between) == [child]
        and {*project.parents[between]} & {*project.parents[child]}
    }


def root_models(project: Project) -> set[str]:
    """A model lacks parents."""
    return {model["name"] for key, model in project.models.items() if not project.parents[key]}


def source_fanout(project: Project) -> set[str]:
    """Two models read one source."""
    found = Counter(parent for _, parent in project.pairs() if project.kind(parent) == "source")
    return {project.all[key]["name"] for key, count in found.items() if count > 1}


def staging_dependent_on_marts_or_intermediate(project: Project) -> set[str]:
    """A staging model reads an intermediate model or a mart."""
    return {
        project.models[key]["name"]
        for key, parent in project.pairs()
        if project.kind(parent) == "model"
        and project.layer(key) == "staging"
        and project.layer(parent) in ("intermediate", "marts")
    }


def staging_dependent_on_staging(project: Project) -> set[str]:
    """Staging reads staging."""
    return {
        project.models[key]["name"]
        for key, parent in project.pairs()
        if project.kind(parent) == "model" and project.layer(key) == project.layer(parent) == "staging"
    }


def too_many_joins(project: Project) -> set[str]:
    """A model reads seven others."""
    return {model["name"] for key, model in project.models.items() if len(project.parents[key]) >= JOINS}


def unused_sources(project: Project) -> set[str]:
    """A source lacks readers."""
    read = {parent for parents in project.parents.values() for parent in parents}
    return {source["name"] for key, source in project.sources.items() if key not in read}


def undocumented_models(project: Project) -> set[str]:
    """A model lacks a description."""
    return {model["name"] for model in project.models.values() if not model["description"].strip()}


def undocumented_sources(project: Project) -> set[str]:
    """A source or its table lacks a description."""
    return {
        source["name"]
        for source in project.sources.values()
        if not (source["description"].strip() and source["source_description"].strip())
    }


def exposures_dependent_on_private_models(project: Project) -> set[str]:
    """An exposure reads a model that is not public."""
    return {
        exposure["name"]
        for key, exposure in project.exposures.items()
        if any(project.all[parent].get("access") != "public" for parent in project.parents[key])
    }


def public_models_without_contract(project: Project) -> set[str]:
    """A public model lacks a contract."""
    return {
        model["name"]
        for model in project.models.values()
        if model["access"] == "public" and not model["config"]["contract"]["enforced"]
    }


def undocumented_public_models(project: Project) -> set[str]:
    """A public model has a column without a description."""
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
    """A model is behind a chain of views."""

    def length(key: str) -> int:
        parents = [parent for parent in project.parents.get(key, []) if project.kind(parent) == "model"]
        views = [parent for parent in parents if project.all[parent]["config"]["materialized"] in ("view", "ephemeral")]
        return 1 + max(map(length, views), default=0)

    return {model["name"] for key, model in project.models.items() if length(key) > CHAIN}


def exposure_parents_materializations(project: Project) -> set[str]:
    """An exposure reads a view or a source."""
    return {
        exposure["name"]
        for key, exposure in project.exposures.items()
        for parent in project.parents[key]
        if project.kind(parent) == "source" or project.all[parent]["config"]["materialized"] in ("view", "ephemeral")
    }


def model_directories(project: Project) -> set[str]:
    """A model is not in the folder of its layer."""
    return {model["name"] for key, model in project.models.items() if project.layer(key) != project.folder(key)}


def model_naming_conventions(project: Project) -> set[str]:
    """A model has not the prefix of its folder; that package wants `fct_` or `dim_` for marts."""
    prefixes = {"staging": ("stg_",), "intermediate": ("int_",), "marts": ("fct_", "dim_"), "other": ("rpt_",)}
    return {
        model["name"]
        for key, model in project.models.items()
        if not model["name"].startswith(prefixes[project.folder(key)])
    }


def source_directories(project: Project) -> set[str]:
    """A source is not declared in a folder of its name below staging."""
    return {
        source["name"]
        for key, source in project.sources.items()
        if project.folder(key) != "staging"
        or source["source_name"] not in PurePosixPath(source["original_file_path"]).parts
    }


def test_directories(project: Project) -> set[str]:
    """A test of one model is declared in another folder than the model."""
    return {
        test["name"]
        for test in project.tests.values()
        if (model := project.models.get(test.get("attached_node") or ""))
        and PurePosixPath(test["original_file_path"]).parent != PurePosixPath(model["original_file_path"]).parent
    }


test_directories.__test__ = False  # a rule, by the package's name for it


def missing_primary_key_tests(project: Project) -> set[str]:
    """A model lacks a test of its primary key: `unique` with `not_null`, or a `primary_key` of `row_rules`."""
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
    """A source lacks a freshness check."""
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
