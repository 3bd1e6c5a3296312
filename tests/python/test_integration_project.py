"""The options of a project that installs this one, tested with the example in integration_tests/."""

import csv
import json
from pathlib import Path

import pytest
import yaml

from conftest import ROOT, DbtProject, refusal
from dbt_projects import installing
from integration_kit import HERE, installed_in, integrating


def project_in(folder: Path, warehouse: Path, schema: str) -> DbtProject:
    """Make a project with a profile of its own."""
    return DbtProject(warehouse, schema, folder, profiles_dir=folder)


@pytest.fixture(scope="module")
def consumer(warehouse, tmp_path_factory) -> DbtProject:
    """The example without changes: build its seeds, then everything."""
    made = project_in(integrating(tmp_path_factory.mktemp("consumer") / "p"), warehouse, "integration")
    result = made.invoke("seed")
    assert result.success, result.exception
    return made.build()


@pytest.fixture
def changed(warehouse, tmp_path):
    """Make the example with another dbt_project.yml or additional models."""

    def make(change=lambda settings: None, models=None) -> DbtProject:
        return project_in(integrating(tmp_path / "p", change, models), warehouse, "changed")

    return make


@pytest.fixture(scope="module")
def settled(warehouse, tmp_path_factory):
    """The example with more settings for our folders, never built, and its manifest."""

    def change(settings):
        settings["models"]["tangles"]["marts"] |= {"+file_format": "delta", "+tags": ["public"]}
        settings["models"]["tangles"]["marts"]["tangles"] = {"+schema": "dag"}
        settings["data_tests"] = {"tangles": {"+severity": "warn", "marts": {"groups": {"+enabled": False}}}}

    made = project_in(integrating(tmp_path_factory.mktemp("settled") / "p", change), warehouse, "never_built")
    return made, made.parse()


def tables(project: DbtProject) -> dict[str, set[str]]:
    """Return the tables of a build, by the suffix of its schema."""
    folders = project.warehouse.glob(f"{project.schema}*.db")
    return {
        folder.stem.removeprefix(project.schema): {table.name for table in folder.iterdir() if table.name[0] != "."}
        for folder in folders
    }


def ours(manifest) -> list:
    """Return all enabled nodes of this project."""
    kinds = (manifest.nodes, manifest.exposures, manifest.unit_tests)
    return [
        node
        for nodes in kinds
        for node in nodes.values()
        if node.package_name == "tangles" and node.resource_type != "operation"
    ]


def test_each_project_has_its_tables(consumer):
    """Three projects have models of the same names; disabled models and the fixtures have no table."""
    found = tables(consumer)
    assert found.keys() == {"", "_tangles", "_secret", "_beside"}
    assert found[""] == {"event_lines", "feeds", "own_vars", "people", "room_events", "runs", "ssb_lines", "threads"}
    assert found["_beside"] == {"tangles"}
    assert found["_secret"] == {"stg_ssb__lines", "stg_events__lines"}
    assert {"tangles", "runs", "tangle_messages", "timeline_events"} <= found["_tangles"]
    assert not [
        name
        for name in found["_tangles"]
        if name.startswith(("set", "pzp", "autobase", "group", "expected", "fixture"))
    ]


def test_models_of_one_name_stay_apart(consumer):
    """A ref to a shared name resolves to the model of the referring project."""
    feeds = {(row["writer"], row["written"]) for row in consumer.rows("feeds")}
    messages = installed_in(consumer, "tangles").rows("ssb_messages", ["author"])
    assert {writer for writer, _ in feeds} == {row["author"] for row in messages}
    assert len(feeds) == 12
    assert {row["answer"] for row in consumer.rows("runs")} == {42}
    assert installed_in(consumer, "beside").rows("tangles") == [{"answer": 42}]


def test_input_is_a_table_of_the_installing_project(consumer):
    """Rows of a source become messages and rows of a model become events; lines are numbered from 1."""
    with open(HERE / "seeds" / "ssb_lines.csv", newline="") as file:
        keys = {json.loads(row["raw"])["key"] for row in csv.DictReader(file)}
    assert len(keys) == 60
    found = installed_in(consumer, "tangles")
    messages = found.rows("ssb_messages")
    assert {row["message_id"] for row in messages} == keys
    assert all(row["is_usable"] for row in messages)
    events = [row for row in found.rows("timeline_events") if row["timeline_id"] == "kitchen"]
    assert [row["event_id"] for row in sorted(events, key=lambda row: row["position"])] == ["e1", "e2", "e3", "e4"]
    assert {row["source_file"] for row in events} == {"integration.event_lines"}
    assert {row["line"] for row in events} == {1, 2, 3, 4}
    (run,) = {json.dumps(row["inputs"]) for row in found.rows("runs") if row["status"] == "success"}
    assert {(given["var"], given["path"], given["files"], given["lines"]) for given in json.loads(run)} == {
        ("ssb_log", "source:received.ssb_lines", None, 60),
        ("event_log", "ref:event_lines", None, 4),
    }


def test_an_empty_cell_of_a_seed_is_null(consumer):
    """An empty cell is null, the word None is a string; numbers, quotes and backslashes are unchanged."""
    assert {tuple(row.values()) for row in consumer.rows("people")} == {
        ("ann", None, 7),
        ("bea", "None", 12345678901234567),
        ("o'hara", 'a \\ and "quotes", None', None),
    }


def test_a_line_is_explained_from_the_schema_of_staging(consumer):
    """The command gets one schema and finds staging, with the keys of groups, in the other."""
    found = installed_in(consumer, "tangles")
    for log, count in (("integration.event_lines", 4), ("integration.ssb_lines", 60)):
        given = {}
        for line in range(1, count + 1):
            asked = found.ask("why", f"{log}:{line}", "--json")
            answer = json.loads(asked.stdout)
            assert asked.exit_code == 0
            assert not {"stg_ssb__lines", "stg_events__lines"} & {*answer["missing_tables"]}
            (given[line],) = (each["id"] for each in answer["lines"])
        assert None not in given.values()
        if count == 4:
            assert given == {row["line"]: row["event_id"] for row in found.rows("timeline_events") if row["line"]}
        else:
            assert set(given.values()) == {row["message_id"] for row in found.rows("ssb_messages")}


def unit_tests(project: DbtProject, *selected: str) -> dict[str, str]:
    result = project.invoke("test", "--select", *selected)
    assert result.success, result.exception
    return {each.node.name: each.status for each in result.result if each.node.resource_type == "unit_test"}


@pytest.mark.long
def test_models_on_the_marts_have_unit_tests(consumer):
    """The rows of a unit test replace our tables, even where our model has the same name as the tested model."""
    ours = "feed_says_what_ended_it"
    assert unit_tests(consumer, "integration,test_type:unit", ours) == {
        "threads_count_members_alone": "pass",
        "feeds_have_their_length": "pass",
        ours: "pass",
    }


@pytest.mark.long
def test_our_unit_tests_pass_there(consumer):
    statuses = unit_tests(consumer, "test_type:unit")
    assert len(statuses) > 20
    assert set(statuses.values()) == {"pass"}


def test_vars_stay_where_they_are(consumer):
    """Vars of the same name are separate in each project; defaults of this project are invisible to others."""
    assert consumer.rows("own_vars") == [{"edit_limit": "mine", "ancestor_limit": "none"}]
    run = max(installed_in(consumer, "tangles").rows("runs"), key=lambda row: row["started_at"])
    taken = dict(run["vars"])
    assert (taken["edit_limit"], taken["edit_batch_size"], taken["ancestor_limit"]) == ("500", "10", "100")
    edits = installed_in(consumer, "tangles").rows("timeline_edits", ["batch"])
    assert max(row["batch"] for row in edits) == 60 // 10


def test_types_of_tangles_are_added_and_replaced(consumer):
    """The var adds a type and replaces a default one; the other default types stay."""
    types = {row["tangle_name"]: row for row in installed_in(consumer, "tangles").rows("tangle_types")}
    assert types["talk"] == {
        "tangle_name": "talk",
        "content_types": ["post"],
        "root_content_types": ["post"],
        "previous_rule": "members",
        "writers_rule": "anyone",
        "writers_field": None,
        "reducer": None,
        "description": "A talk",
    }
    profile = types["profile"]
    assert (profile["content_types"], json.loads(profile["reducer"])) == (
        ["profile/person"],
        {"preferredName": "overwrite"},
    )
    assert types["epoch"]["content_types"] == ["group/init"]


@pytest.mark.long
def test_hooks_leave_other_runs_alone(consumer):
    """A run without models of this project writes no run row, prints no counts and may have a wrong var."""
    parsed = consumer.parse()
    before = installed_in(consumer, "tangles").rows("runs")
    log = consumer.warehouse / "logs" / consumer.schema / "dbt.log"
    offset = log.stat().st_size
    theirs = project_in(consumer.project_dir, consumer.warehouse, consumer.schema)
    theirs.vars = {"tangle_engine": "steam"}
    result = theirs.invoke("run", "--select", "integration.own_vars", "beside", manifest=parsed)
    assert result.success, result.exception
    assert installed_in(consumer, "tangles").rows("runs") == before
    said = log.read_text()[offset:]
    assert "beside has its say" in said
    assert " rows" not in said
    result = theirs.invoke("run", "--select", "tangles.marts.feeds", manifest=parsed)
    assert "var 'tangle_engine' is \"steam\"" in refusal(result)


def last_run(consumer: DbtProject) -> tuple[str, int, str]:
    """Return the status of the last run, the exit code of `tangles status` and its answer."""
    found = installed_in(consumer, "tangles")
    rows = found.rows("runs", ["started_at", "status"])
    result = found.ask("status", "--target-path", str(consumer.warehouse / "target" / consumer.schema))
    return max(rows, key=lambda row: row["started_at"])["status"], result.exit_code, result.output


@pytest.mark.long
def test_only_our_nodes_decide_whether_a_run_failed(consumer):
    """A failed model of the installing project fails our run only if ours are skipped, and until they are built."""
    models = consumer.project_dir / "models"
    beside, input_ = models / "broken.sql", models / "event_lines.sql"
    before = input_.read_text()
    try:
        beside.write_text("select no_such_column")
        assert not consumer.invoke("run", "--select", "broken", "stg_tables__lines").success
        status, code, said = last_run(consumer)
        assert (status, code) == ("success", 0) and "broken" not in said
        input_.write_text("select no_such_column as raw")
        assert not consumer.invoke("run", "--select", "event_lines", "stg_tables__lines").success
        status, code, said = last_run(consumer)
        assert (status, code) == ("error", 1) and "1 step was skipped" in said
    finally:
        beside.unlink()
        input_.write_text(before)
    assert consumer.invoke("run", "--select", "event_lines", "stg_tables__lines").success
    assert last_run(consumer)[:2] == ("success", 0)


@pytest.mark.long
def test_folders_take_the_settings_of_the_installing_project(settled):
    """Models and tests take schemas, tags, file formats and materializations from the installing project."""
    of = {node.name: node for node in ours(settled[1])}
    assert {of[name].config.get("file_format") for name in ("ssb_messages", "tangles")} == {"delta"}
    assert of["int_tangle_edges"].config.get("file_format") == "parquet"
    assert [of[name].schema for name in ("stg_ssb__lines", "int_tangle_edges", "feeds", "tangles")] == [
        f"never_built_{name}" for name in ("secret", "tangles", "tangles", "dag")
    ]
    # dbt adds the tags of the installing project to the package's own: the layer, and the systems.
    assert of["tangles"].config.tags == ["marts", "ssb", "logs", "public"]
    assert of["int_tangle_edges"].config.tags == ["intermediate", "ssb", "logs"]
    assert of["feeds"].config.materialized == "view"
    assert of["timelines_hold_every_message"].config.severity == "warn"
    others = {node.name for node in of.values() if node.resource_type in ("seed", "exposure")}
    assert others == {"commands_on_ssb", "commands_on_timelines"}


@pytest.mark.long
def test_tests_before_their_tables_are_refused(settled):
    """The error states some of the missing tables, and the remedy."""
    some = ("--select", "stg_tables__lines", "tangles.marts.ssb", "--indirect-selection", "eager")
    said = refusal(settled[0].invoke("build", *some))
    assert "of the selected tests read tables that are not built and not selected: never_built_" in said
    assert "flags: {indirect_selection: buildable}" in said


@pytest.mark.long
def test_events_alone(project, tmp_path):
    """A project without an SSB log runs few models to get timelines of events."""
    settings = {
        "models": {"installer": {"+file_format": "parquet"}},
        "vars": {"tangles": {"event_log": {"ref": "event_lines"}}},
    }
    line = '{"timeline": "t", "event": "e%d", "after": [%s], "arrival": %d}'
    lines = [line % (1, "", 1), line % (2, '"e1"', 2), line % (3, '"e2"', 3), "no event"]
    models = {"event_lines.sql": " union all ".join(f"select '{line}' as raw" for line in lines)}
    built = project("events_alone", installing(tmp_path / "p", models, **settings)).build()
    assert tables(built)[""] == {
        "stg_events__lines",
        "int_timeline_arrivals",
        "int_timeline_order",
        "int_timeline_sizes",
        "int_timeline_versions",
        *(path.stem for part in ("timelines", "runs") for path in (ROOT / "models" / "marts" / part).glob("*.sql")),
    }
    events = built.rows("timeline_events", ["event_id", "rank"])
    assert {(row["event_id"], row["rank"]) for row in events} == {("e1", 0), ("e2", 1), ("e3", 2)}
    assert [row["reason"] for row in built.rows("timeline_rejects")] == ["malformed"]


def test_a_var_name_that_dbt_would_pass_to_tangles_is_refused(changed):
    """Without the flag dbt confuses the installing project's model with ours."""
    project = changed(lambda settings: settings["flags"].pop("require_ref_searches_node_package_before_root"))
    said = refusal(project.invoke("run", "--select", "own_vars"))
    assert "of tangles would read model.integration." in said
    assert "flags: {require_ref_searches_node_package_before_root: true}" in said


def test_a_model_with_the_name_of_a_disabled_model_is_refused(changed):
    """Dbt applies the yml of our disabled model to the installing project's model."""
    said = refusal(changed(models={"sets.sql": "select 1 as item"}).invoke("run", "--select", "own_vars"))
    assert "model.integration.sets has the name of a disabled model of tangles" in said


@pytest.mark.long
def test_one_schema_for_two_models_of_one_name_is_dbts_own_error(changed):
    """The remedy is a separate schema for our models."""
    said = refusal(changed(lambda settings: settings["models"]["tangles"].pop("+schema")).invoke("parse"))
    assert "database representation" in said


def test_the_example_agrees_with_the_documentation():
    """Each YAML example in docs/how-to/package.md that names a file is a part of that file."""
    text = (ROOT / "docs" / "how-to" / "package.md").read_text()
    blocks = [block.split("```")[0] for block in text.split("```yaml\n")[1:]]
    named = [block.split("\n", 1) for block in blocks if block.startswith("# integration_tests/")]
    assert len(named) >= 4
    for first, block in named:
        file = yaml.safe_load((ROOT / first.removeprefix("# ")).read_text())
        assert is_part(yaml.safe_load(block), file), block
    assert not is_part({"models": {"tangles": {"+schema": "other"}}}, file)


def is_part(some, whole) -> bool:
    if isinstance(some, dict):
        return isinstance(whole, dict) and all(key in whole and is_part(each, whole[key]) for key, each in some.items())
    if isinstance(some, list):
        return isinstance(whole, list) and all(each in whole for each in some)
    return some == whole
