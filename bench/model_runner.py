"""Run the project's own Python models without dbt."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import yaml
from jinja2 import StrictUndefined
from jinja2.nativetypes import NativeEnvironment

from bench.machine import ROOT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MODELS = ROOT / "python_models"


def run(model: str, spark: SparkSession, refs: dict[str, DataFrame], **variables: Any) -> DataFrame:
    """Call a Python model of the project.

    Args:
        model: The model's name.
        spark: The session.
        refs: The result of `dbt.ref` for each name.
        variables: dbt vars that differ from those of dbt_project.yml.
    """
    config = configuration(model, **variables)
    dbt = SimpleNamespace(ref=refs.__getitem__, config=SimpleNamespace(meta_get=config.get), this="there_is_none")
    return load(model).model(dbt, spark)


def load(model: str) -> ModuleType:
    """Load a Python model's file as a module."""
    path = _only(MODELS.rglob(f"{model}.py"), model)
    spec = importlib.util.spec_from_file_location(f"bench_model_{model}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def configuration(model: str, **variables: Any) -> dict[str, Any]:
    """Return the `meta` of a Python model's configuration, rendered as dbt renders it.

    Args:
        model: The model's name.
        variables: dbt vars that differ from those of dbt_project.yml.
    """
    project = yaml.safe_load((ROOT / "dbt_project.yml").read_text())
    if unknown := variables.keys() - project["vars"].keys():
        raise KeyError(f"unknown vars {sorted(unknown)}: dbt_project.yml does not declare them")
    known = {**project["vars"], **variables}

    def var(name: str, *default: Any) -> Any:
        return known.get(name, *default) if default else known[name]

    jinja = NativeEnvironment(undefined=StrictUndefined)
    jinja.globals["var"] = var
    entries = [
        entry
        for path in MODELS.rglob("*.yml")
        for entry in yaml.safe_load(path.read_text()).get("models", [])
        if entry["name"] == model
    ]
    meta = {**project["models"]["tangles"]["+meta"], **_only(entries, model).get("config", {}).get("meta", {})}
    return {
        name: jinja.from_string(value).render() if isinstance(value, str) else value for name, value in meta.items()
    }


def _only(found: Any, model: str) -> Any:
    found = list(found)
    if len(found) != 1:
        raise LookupError(
            f"python_models must have the model {model} exactly once, not {len(found)} times: {[*map(str, found)]}"
        )
    return found[0]


def read_yaml_columns(path: Path) -> list[tuple[str, str]]:
    """Return the names and types of the columns that a model's yml declares."""
    model = yaml.safe_load(path.read_text())["models"][0]
    return [(column["name"], column["data_type"]) for column in model["columns"]]
