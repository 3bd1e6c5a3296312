"""All ways to name a log, and the tables of a project that installs this one."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from conftest import DATA, ROOT, DbtProject, refusal
from dbt_projects import installing, with_vars
from dbt_tangles.cli.cli import main

LOGS = {"ssb": "ssb_log", "pzp": "pzp_log", "autobase": "autobase_log", "events": "event_log"}
#: The folders of models that each log enables; `tables` and `runs` are always enabled.
ENABLED = {
    "ssb": {"ssb", "feeds", "tangles", "groups", "timelines"},
    "pzp": {"pzp", "sets"},
    "autobase": {"autobase"},
    "events": {"events", "timelines"},
}
MODELS = {"mine.sql": "select run_id from {{ ref('tangles', 'runs') }}"}


def enabled(manifest, kind: str) -> set[str]:
    """Names of the nodes of a kind that are enabled."""
    return {node.name for node in manifest.nodes.values() if node.resource_type == kind and node.config.enabled}


def models_in(*folders: str) -> set[str]:
    """Names of the models of some folders, and of those that need no log."""
    files = (path for top in ("models", "python_models") for path in (ROOT / top).rglob("*"))
    models = {path for path in files if path.suffix in (".sql", ".py")}
    enabled = {path.stem for path in models if path.parent.name in {*folders, "tables", "runs"}}
    return enabled - {"tangle_clocks", "int_tangle_clocks"}  # off by default


def lines_of_fixtures(manifest) -> set[str]:
    """Return the inputs of the table of fixture lines."""
    return {*manifest.nodes["model.tangles.stg_tables__lines"].depends_on.nodes}


# Each way names a different log, so every log is given once.
WAYS = {
    "the vars of this project": ("ssb", lambda folder, given: (with_vars(folder, **given), {})),
    "the vars of another project": ("pzp", lambda folder, given: (installing(folder, MODELS, vars=given), {})),
    "the vars of another project for this one": (
        "autobase",
        lambda folder, given: (installing(folder, MODELS, vars={"tangles": given}), {}),
    ),
    "--vars": ("events", lambda folder, given: (ROOT, given)),
    "--vars of another project": ("ssb", lambda folder, given: (installing(folder, MODELS), given)),
}
QUICK = ("the vars of another project for this one", "--vars of another project")


@pytest.mark.parametrize("way", [way if way in QUICK else pytest.param(way, marks=pytest.mark.long) for way in WAYS])
def test_with_a_log_there_are_no_fixtures(way, project, tmp_path):
    """With each way to name a log, staging reads it; fixtures, models and unit tests of other logs are disabled."""
    system, make = WAYS[way]
    folder, variables = make(tmp_path / "p", {LOGS[system]: "/logs/*.jsonl"})
    manifest = project(f"ways_{[*WAYS].index(way)}", folder, **variables).parse()
    assert manifest.nodes[f"model.tangles.stg_{system}__lines"].config.meta[LOGS[system]] == "/logs/*.jsonl"
    assert enabled(manifest, "model") - {"mine"} == models_in(*ENABLED[system])
    assert enabled(manifest, "seed") == lines_of_fixtures(manifest) == set()
    assert not [name for name in enabled(manifest, "test") if name.startswith("documents_")]
    inputs = {each.input for test in manifest.unit_tests.values() for each in test.given if each.input != "this"}
    assert inputs and {re.findall(r"'(\w+)'", name)[-1] for name in inputs} <= enabled(manifest, "model")


def test_without_a_log_the_fixtures_are_the_input(manifest):
    """All seeds and all tests of documented examples are enabled, except the test for another rule."""
    assert enabled(manifest, "seed") == {path.stem for path in (ROOT / "seeds").rglob("*.csv")}
    assert lines_of_fixtures(manifest) == {"seed.tangles.fixture_log"}
    written = [name for name in documents_tests() if name.startswith("documents_")]
    assert {name for name in enabled(manifest, "test") if name.startswith("documents_")} == {*written}
    assert len(written) > 10


def documents_tests() -> list[str]:
    """Return the names of the tests that compare tables with documented examples."""
    texts = [path.read_text() for folder in ("models", "seeds") for path in (ROOT / folder).rglob("*.yml")]
    return [name for text in texts for name in re.findall(r"- matches_(?:document|tables):\n +name: (\w+)", text)]


def test_the_seeds_are_enabled_by_one_expression():
    """The expression is in one file for each system, because macros are unavailable there, and checks every log."""
    files = [yaml.safe_load(path.read_text()) for path in (ROOT / "seeds").rglob("*.yml")]
    (expression,) = {seed["config"]["enabled"] for file in files for seed in file["seeds"]}
    assert [*re.findall(r"var\('(\w+)'\) is none", expression)] == [*LOGS.values()]


def test_another_project_without_a_log_has_no_fixtures(project, tmp_path):
    """A project that installs this one without a log gets the tables of runs."""
    manifest = project("no_log", installing(tmp_path / "p", MODELS)).parse()
    assert enabled(manifest, "seed") == lines_of_fixtures(manifest) == set()
    assert enabled(manifest, "model") - {"mine"} == models_in()


def test_private_groups_are_a_part_of_their_own(project):
    manifest = project("no_groups", ssb_log="/logs", private_groups=False).parse()
    assert enabled(manifest, "model") == models_in(*ENABLED["ssb"] - {"groups"})


def test_a_build_in_another_project(project, tmp_path):
    """The project sets a log and a schema for our models: tables have that log alone, and counts end the run."""
    settings = {
        "vars": {"tangles": {"ssb_log": str(DATA / "ssb" / "small.jsonl")}},
        "models": {"tangles": {"+schema": "x"}, "installer": {"+materialized": "table", "+file_format": "parquet"}},
    }
    models = {"mine.sql": "select message_id from {{ ref('ssb_messages') }}"}
    built = project("installed", installing(tmp_path / "p", models, **settings))
    selected = ("+ssb_messages", "+ssb_rejects", "mine")
    built.build("--select", *selected, "--indirect-selection", "buildable")

    tables = DbtProject(built.warehouse, "installed_x")
    files = {row["source_file"].rsplit("/", 1)[-1] for row in tables.rows("stg_ssb__lines")}
    assert files == {"small.jsonl"}
    count = len(tables.rows("ssb_messages"))
    assert count > 100
    assert tables.rows("stg_tables__lines") == []
    assert len(built.rows("mine")) == count

    said = (built.warehouse / "logs" / built.schema / "dbt.log").read_text()
    assert f"  ssb_messages {count:>17,} rows" in said
    (advice,) = re.findall(r"Tables: (\S+)/<table>/ \(parquet\)\.  A look: (.+)$", said, re.MULTILINE)
    assert advice[0] == f"{built.warehouse}/installed_x.db" and "dbt show" not in said
    program, *words = shlex.split(advice[1])
    assert Path(program).name == "tangles"
    answered = CliRunner().invoke(main, [*words, "--json"])
    assert answered.exit_code == 0 and json.loads(answered.stdout)["tables"] == advice[0]


@pytest.mark.parametrize("model", ["stg_ssb__lines", pytest.param("int_tangle_levels", marks=pytest.mark.long)])
def test_other_projects_cannot_read_private_models(model, project, tmp_path):
    """Staging holds secrets; the models between staging and the marts have no contract."""
    read = f"select * from {{{{ ref('{model}') }}}}"
    folder = installing(tmp_path / "p", {"mine.sql": read})
    said = refusal(project(f"private_{model}", folder, ssb_log="/logs").invoke("parse"))
    assert f"attempted to reference node model.tangles.{model}, which is not allowed" in said

    models = {"mine.sql": "{{ config(group='tangles') }} " + read, "other.sql": "select 1 as one"}
    grouped = project(f"grouped_{model}", installing(tmp_path / "grouped", models), ssb_log="/logs")
    said = refusal(grouped.invoke("run", "--select", "other"))
    reader = f"model.installer.mine reads model.tangles.{model}, which is private"
    assert f"{reader}: only the public models of tangles may be read" in said


def test_only_the_marts_are_public(manifest):
    """Exactly the models in the folder of marts are public."""
    access = {node.name: node.access for node in manifest.nodes.values() if node.resource_type == "model"}
    marts = {path.stem for path in (ROOT / "models" / "marts").rglob("*.sql")}
    assert {name for name, level in access.items() if level == "public"} == marts
    assert {level for name, level in access.items() if name not in marts} == {"private"}


def test_config_keys_are_dbts_own(project, monkeypatch):
    """A later dbt will warn of unknown keys; today it checks them only for adapters with a schema of its own."""
    from dbt.cli.main import dbtRunner
    from dbt.jsonschemas import jsonschemas

    monkeypatch.setattr(jsonschemas, "_can_run_validations", lambda: True)
    warnings = []

    def listen(event):
        if event.info.name.endswith("Deprecation"):
            warnings.append(event.info.msg)

    options = ["--project-dir", str(ROOT), "--profiles-dir", str(ROOT), "--no-partial-parse", "--show-all-deprecations"]
    paths = ["--target-path", str(project("keys").warehouse / "target" / "keys")]
    assert dbtRunner(callbacks=[listen]).invoke(["parse", *options, *paths]).success
    assert warnings == []
