"""The nights on a cluster, as far as they work without Spark: shares, readers, and the stage `targets`."""

import contextlib
import json
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from jinja2 import Template

from conftest import ROOT
from tests.cluster import night_reader, night_runs, night_targets, nights
from tests.cluster.build import BuildError


@pytest.mark.parametrize(("night", "is_too_much"), [(24.9, False), (25.1, True)])
def test_the_share_of_a_night_on_a_cluster_is_compared_with_that_on_one_machine(tmp_path, night, is_too_much):
    figures = {"machine": (60, 20, 10), "cluster": (70, night, 10)}  # 10 of 50 CPU s, and 14.9 or 15.1 of 60
    for name, cpu in figures.items():
        assert nights.compare_shares(tmp_path) == []
        (tmp_path / name).mkdir()
        (tmp_path / name / "figures.json").write_text(json.dumps(dict(zip(nights.NIGHTS, cpu, strict=True))))
    assert bool(nights.compare_shares(tmp_path)) == is_too_much


@pytest.mark.parametrize(
    ("digests", "said"),
    [
        ("aabbb", []),
        ("ab", []),
        ("aacbb", ["t was read with rows that are neither those before the night nor those after it"]),
        ("aba", ["t has not changed in the night", "t was read with rows that are neither"]),
        ("aaa", ["t has not changed in the night"]),
    ],
)
@pytest.mark.parametrize("schema", ["tangles.{}", "delta.`/tables/tangles.db/{}`"])
def test_a_reader_has_to_see_the_rows_before_a_night_or_after_it(tmp_path, digests, said, schema):
    file = tmp_path / "readings.jsonl"
    rounds = [[number, table, digest] for number, digest in enumerate(digests) for table in ("t", "u")]
    changing = [
        [number, schema.format(table), digest if table == "t" else str(number > 0)] for number, table, digest in rounds
    ]
    file.write_text("".join(json.dumps(reading) + "\n" for reading in changing))
    assert [line[: len(want)] for line, want in zip(night_reader.check_readings(file), said, strict=True)] == said


def test_each_night_reads_more_than_the_one_before():
    fractions = [*nights.NIGHTS.values(), nights.READ]
    assert fractions == sorted(fractions) and nights.NIGHTS["1 % more"] == nights.NIGHTS["nothing new"]
    assert nights.STRUCK[0] < nights.STRUCK[1]


def test_commits_are_counted_in_both_formats(tmp_path):
    runs = night_runs.NightRuns(tmp_path, "iceberg", [], ["run"])
    for file in ("t/a/metadata/v1.metadata.json", "t/a/metadata/v2.metadata.json", "t.db/b/_delta_log/0.json"):
        path = runs.warehouse("cluster") / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert runs.commits("cluster") == {"a": 2, "b": 1}


@pytest.mark.parametrize("file_format", ["iceberg", "delta"])
def test_a_cluster_has_the_catalog_of_the_formats_own_target(file_format):
    profile = yaml.safe_load((ROOT / "profiles.yml").read_text())["tangles"]["outputs"][file_format]
    of_profile = profile["server_side_parameters"]
    settings = night_targets.settings(file_format, "/tables", ["/jars/a.jar", "/jars/b.jar"])
    assert settings.pop("spark.driver.extraClassPath") == settings.pop("spark.executor.extraClassPath")
    for name, value in settings.items():
        told = Template(str(of_profile[name])).render(env_var=lambda name, default: f"/{name}")
        assert value == told.replace("/TANGLES_WAREHOUSE", "/tables"), name


class Nights(night_runs.NightRuns):
    """Runs without dbt: each place has a table, whose row is the last fraction of the log."""

    def start_in(self, place, fraction):
        """Note the fraction, and two unchanged steps unless the place builds everything again."""
        target = self.folder / place.name / "target"
        target.mkdir(parents=True, exist_ok=True)
        (target / "fraction").write_text(str(fraction))
        steps = ["unchanged", "unchanged", "OK"] if place.environ.get("REUSES", "1") == "1" else ["OK"]
        results = [
            {"unique_id": f"step {number}", "adapter_response": {"_message": step} if step else {}}
            for number, step in enumerate([*steps, None])
        ]
        (target / "run_results.json").write_text(json.dumps({"results": results}))
        return contextlib.nullcontext(SimpleNamespace(target=target, output=target, end=lambda: 0))

    def export(self, place):
        """Export the table."""
        folder = self.folder / place.name / "exported"
        (folder / "tangles.db" / "feeds").mkdir(parents=True)
        table = pa.table({"fraction": [(self.folder / place.name / "target" / "fraction").read_text()]})
        pq.write_table(table, folder / "tangles.db" / "feeds" / "rows.parquet")
        return folder


def test_a_repeated_run_has_to_leave_steps_unchanged(tmp_path):
    runs = Nights(tmp_path, "iceberg", [], ["run"])
    assert night_targets.run_nights(runs, night_runs.Place("connect", "connect", {}), [0.5]) == {"step 0", "step 1"}
    with pytest.raises(BuildError, match="connect: a repeated run built all tables again"):
        night_targets.run_nights(runs, night_runs.Place("connect", "connect", {"REUSES": "0"}), [0.5])


@pytest.mark.parametrize(
    ("fraction", "unchanged", "said"),
    [
        (0.9, {"step 0", "step 1"}, []),
        (0.8, {"step 0", "step 1"}, ["connect: feeds: 1 rows of 1 are only in "] * 2),
        (0.9, {"step 0"}, ["connect: the repeated run built step 1, which were unchanged on this machine"]),
        (0.9, {"step 1"}, []),  # step 0 reads the log
    ],
)
def test_tables_of_targets_are_compared_with_those_of_one_machine(tmp_path, monkeypatch, fraction, unchanged, said):
    runs = Nights(tmp_path, "iceberg", [], ["run"])

    def run_on(nights, target, fractions):
        place = night_runs.Place(target, target, {})
        nights.start_in(place, fraction)
        return unchanged, nights.export(place)

    monkeypatch.setattr(night_targets, "READERS", {"step 0"})
    monkeypatch.setattr(night_targets, "available", lambda names: ["connect"])
    monkeypatch.setattr(night_targets, "run_on", run_on)
    monkeypatch.delenv("TANGLES_JARS", raising=False)
    with pytest.raises(BuildError, match="TANGLES_JARS has to name"):
        night_targets.compare_targets(runs, [0.8, 0.9])
    monkeypatch.setenv("TANGLES_JARS", "a.jar")
    found = [
        line for line in night_targets.compare_targets(runs, [0.8, 0.9]) if not line.startswith("connect: feeds:   ")
    ]
    assert [line[: len(want)] for line, want in zip(found, said, strict=True)] == said
