"""The nights with faults, as far as they work without Spark: their tables, their comparison, and their settings."""

import contextlib
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from jinja2 import Template

from conftest import ROOT
from tests.cluster import faults, night_faults, night_runs
from tests.cluster.build import BuildError
from tests.cluster.catching import MERGE
from tests.cluster.fault_injection import Missed

#: A table of each materialization that matters to the comparison.
KINDS = {"tangles": "replace_groups", "int_tangle_depths": "working_set", "int_tangle_versions": "group_versions"}

FORMATS = ["iceberg", "delta"]


class Nights(night_runs.NightRuns):
    """Runs without dbt: a run over more of the log than before adds the fraction as a row to all tables."""

    def start_in(self, place, fraction):
        """Add the fraction; each run is noted in a file."""
        with (self.folder / "started.txt").open("a") as file:
            file.write(f"{place.name} {fraction}\n")
        target = self.folder / place.name / "target"
        target.mkdir(parents=True, exist_ok=True)
        nodes = {
            name: {"alias": name, "resource_type": "model", "config": {"materialized": kind}}
            for name, kind in KINDS.items()
        }
        (target / "manifest.json").write_text(json.dumps({"nodes": nodes}))
        rows = Path(place.environ["TANGLES_WAREHOUSE"], "rows.txt")
        rows.parent.mkdir(parents=True, exist_ok=True)
        before = rows.read_text().splitlines() if rows.exists() else []
        rows.write_text("\n".join(dict.fromkeys([*before, str(fraction)])))
        build = SimpleNamespace(output=target, end=lambda: 0, said=lambda: "")
        return contextlib.nullcontext(build)

    def export(self, place):
        """Export the tables."""
        rows = Path(place.environ["TANGLES_WAREHOUSE"], "rows.txt").read_text().splitlines()
        folder = self.folder / place.name / "exported"
        for name in KINDS:
            (folder / "tangles.db" / name).mkdir(parents=True)
            pq.write_table(pa.table({"fraction": rows}), folder / "tangles.db" / name / "rows.parquet")
        return folder


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Runs without dbt, and clusters without servers."""
    cluster = SimpleNamespace(master="spark://here", environ=lambda **given: given)
    monkeypatch.setattr(night_faults, "Cluster", lambda folder, defaults: contextlib.nullcontext(cluster))
    return Nights(tmp_path, "iceberg", [], ["run"])


@pytest.fixture
def struck(monkeypatch):
    """The models of each run with a fault; `strike` does not inject it."""
    found = []
    monkeypatch.setattr(faults, "strike", lambda fault, scene, models: found.append(models))
    return found


def tables_of(differences):
    """Return the tables of lines about differences, by fault."""
    return {(fault, table) for fault, table, *_ in (line.split(": ") for line in differences)}


def test_all_faults_of_full_builds_happen_in_a_night():
    assert {*night_faults.MODELS} == {*faults.FAULTS}


def test_each_night_with_a_fault_begins_from_the_same_tables(runs, struck, capsys):
    assert night_faults.endure_faults(runs, 0.5, 0.6, ["worker", "shuffle"]) == []
    assert struck == [["int_tangle_levels"], ["int_tangle_levels", "int_timeline_order"]]
    for name in ("worker", "shuffle"):
        exported = runs.folder / "faults" / name / "exported" / "tangles.db" / "tangles" / "rows.parquet"
        assert pq.read_table(exported)["fraction"].to_pylist() == ["0.5", "0.6"]
    assert re.findall(r"(\w+): as expected", capsys.readouterr().out) == ["worker", "shuffle"]
    started = (runs.folder / "started.txt").read_text().splitlines()
    assert started == ["faults/expected 0.5", "faults/expected 0.6", "faults/worker 0.6", "faults/shuffle 0.6"]


def test_a_night_that_cannot_end_well_runs_again(runs, struck):
    assert night_faults.endure_faults(runs, 0.5, 0.6, ["memory"]) == []
    assert (runs.folder / "started.txt").read_text().splitlines()[2:] == ["faults/memory 0.6"] * 2


def test_rows_of_tables_that_depend_on_earlier_runs_are_not_compared_after_a_failed_run(runs, monkeypatch):
    """A night that failed and runs again may count more groups as changed."""

    def lose(fault, scene, models):
        (runs.warehouse("faults") / "rows.txt").write_text("0.6")

    monkeypatch.setattr(faults, "strike", lose)
    said = night_faults.endure_faults(runs, 0.5, 0.6, ["python", "memory"])
    compared = {("python", name) for name in KINDS} | {("memory", "tangles")}
    assert tables_of(said) == compared


@pytest.mark.parametrize("error", [Missed, BuildError])
def test_a_night_without_its_fault_or_its_end_is_reported_and_the_next_fault_follows(runs, monkeypatch, error):
    def strike(fault, scene, models):
        if fault.name == "worker":
            raise error("the reason")

    monkeypatch.setattr(faults, "strike", strike)
    assert night_faults.endure_faults(runs, 0.5, 0.6, ["worker", "python"]) == ["worker: the reason"]
    assert (runs.folder / "started.txt").read_text().endswith("faults/python 0.6\n")


def test_tables_that_a_night_rebuilds_in_full_are_reported(runs, struck, monkeypatch):
    def start_in(self, place, fraction):
        with Nights.start_in(self, place, fraction) as build:
            build.said = lambda: "Rebuilding feeds: its var changed\nRebuilding tangles: its SQL changed\n"
        return contextlib.nullcontext(build)

    rebuilding = type("Rebuilding", (Nights,), {"start_in": start_in})(runs.folder, "iceberg", [], ["run"])
    said = night_faults.endure_faults(rebuilding, 0.5, 0.6, ["python"])
    assert said == ["python: Rebuilding feeds: its var changed", "python: Rebuilding tangles: its SQL changed"]


@pytest.mark.parametrize(("after", "said"), [(3, "not committed"), (4, "1 commits further")])
def test_a_kill_in_a_merge_leaves_the_table_of_its_new_rows(capsys, after, said):
    night_faults.check_merges({"feeds": 3}, {"feeds": after, "feeds__next": 1})
    assert f"feeds__next is left, feeds is {said}" in capsys.readouterr().out
    with pytest.raises(Missed, match="did not interrupt"):
        night_faults.check_merges({"feeds": 3}, {"feeds": after})


@pytest.mark.parametrize("target", FORMATS)
def test_a_night_with_faults_has_the_page_that_tells_its_merges(target):
    """Settings of the profile take precedence over those of the cluster."""
    outputs = yaml.safe_load((ROOT / "profiles.yml").read_text())["tangles"]["outputs"]
    setting = Template(outputs[target]["server_side_parameters"]["spark.ui.enabled"])
    assert setting.render(env_var=lambda name, default: night_faults.PAGE.get(name, default)) == "true"
    assert setting.render(env_var=lambda name, default: default) == "false"


def test_merges_of_delta_lake_are_not_struck():
    iceberg, delta = ({fault.name: fault.models for fault in night_faults.faults_on(name)} for name in FORMATS)
    assert iceberg == night_faults.MODELS
    assert {name for name, models in iceberg.items() if MERGE in models} == {"driver", "executor", "straggler"}
    assert delta == {name: [model for model in models if model != MERGE] for name, models in iceberg.items()}
