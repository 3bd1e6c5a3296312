"""dbt's options for several states of a project: `--defer`, `state:modified`, `retry`, `clone`, `source freshness`."""

import csv
import re
import shutil
from pathlib import Path

import pytest

from conftest import DATA, DbtProject, refusal
from dbt_projects import installing

MODELS = ("+feeds", "ssb_rejects")
#: The tables of a run, and its rows in them, differ from run to run.
OF_RUNS = {"runs", "run_changes"}


def statuses(result) -> dict[str, str]:
    """Return the messages of the models of a successful command by name; `unchanged` for reused tables."""
    assert result.success, result.exception or [(r.node.name, r.message) for r in result.result]
    models = [r for r in result.result if r.node.resource_type == "model"]
    return {r.node.name: r.adapter_response.get("_message") or str(r.status) for r in models}


def tables(built: DbtProject) -> set[str]:
    return {path.name for path in (built.warehouse / f"{built.schema}.db").glob("[!.]*")} - OF_RUNS


def keep_state(built: DbtProject, folder: Path) -> str:
    """Copy the manifest of the last command, as a deployment keeps it."""
    folder.mkdir()
    shutil.copy(built.warehouse / "target" / built.schema / "manifest.json", folder)
    return str(folder)


@pytest.fixture(scope="module")
def production(project, tmp_path_factory) -> tuple[DbtProject, str]:
    """A build of the small log without its last lines, and its state."""
    folder = tmp_path_factory.mktemp("production")
    log = folder / "log.jsonl"
    lines = (DATA / "ssb" / "small.jsonl").read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-20]))
    built = project("habits", ssb_log=str(log))
    assert set(statuses(built.invoke("run", "--select", *MODELS)).values()) == {"OK"}
    return built, keep_state(built, folder / "state")


@pytest.mark.long
def test_a_run_for_each_model_builds_the_tables_of_one_run(production, project, capfd):
    """As orchestrators do that make a task of each model. The log of a run names the last five runs."""
    built, _ = production
    own = project("habits_one_by_one", **built.vars)
    order = [*statuses(built.invoke_parsed("run", "--select", *MODELS))]
    assert len(order) > 6
    for name in ("runs", *order):
        capfd.readouterr()
        assert statuses(own.invoke_parsed("run", "--select", name)) == {name: "OK"}
    said = capfd.readouterr().out
    assert "tables of several runs" in said and said.count(" of the run of ") == 5
    assert re.search(r"^ +\d+ of \d+ earlier runs$", said, re.M)
    assert tables(own) == tables(built)
    for name in tables(built):
        assert own.sorted_rows(name) == built.sorted_rows(name), name


@pytest.mark.long
def test_clone_copies_tables_that_the_next_build_reuses(production, project):
    built, state = production
    copy = project("habits_clone", **built.vars)
    assert set(statuses(copy.invoke_parsed("clone", "--select", *MODELS, "--state", state)).values()) == {"cloned"}
    assert "cloned" not in statuses(copy.invoke_parsed("clone", "--select", *MODELS, "--state", state)).values()
    assert tables(copy) == tables(built) >= {"feeds", "ssb_rejects", "ssb_messages", "stg_ssb__lines"}
    for name in tables(built):
        assert copy.sorted_rows(name) == built.sorted_rows(name), name
    place = [each.warehouse / f"{each.schema}.db" / "stg_ssb__lines" for each in (built, copy)]
    files = [{path.stat().st_ino for path in folder.glob("*.parquet")} for folder in place]
    assert files[0] == files[1], "files are links"
    assert [folder.stat().st_mode & 0o777 for folder in place] == [0o700, 0o700], "only the owner reads keys of groups"
    assert set(statuses(copy.invoke_parsed("run", "--select", *MODELS)).values()) == {"unchanged"}


@pytest.mark.long
def test_a_damaged_table_is_not_cloned(production, project, tmp_path):
    built, state = production
    source = project("habits_damaged", **built.vars)
    statuses(source.invoke("clone", "--select", *MODELS, "--state", state))
    damaged = source.warehouse / f"{source.schema}.db" / "feeds"
    file = next(damaged.glob("*.parquet"))
    file.unlink()  # its clone and this file are links to the same bytes
    file.write_bytes(b"")
    copy = project("habits_damaged_copy", **built.vars)
    said = refusal(copy.invoke("clone", "--select", "feeds", "--state", keep_state(source, tmp_path / "state")))
    assert "habits_damaged.feeds is not a complete parquet table of this warehouse: build it again" in said
    assert tables(copy) == set()


@pytest.mark.long
def test_a_deferred_build_reads_the_tables_of_the_state(production, project):
    """A first build, an unchanged one, and one after the state's tables have grown: working sets then lack groups."""
    built, state = production
    options = ("--defer", "--state", state)
    own = project("habits_defer", **built.vars)
    alone = refusal(own.invoke_parsed("run", "--select", "feeds"))
    assert "Build feeds with its inputs: --select +feeds" in alone
    assert statuses(own.invoke_parsed("run", "--select", "feeds", *options)) == {"feeds": "OK"}
    assert tables(own) == {"feeds"} and own.sorted_rows("feeds") == built.sorted_rows("feeds")
    assert statuses(own.invoke_parsed("run", "--select", "feeds", *options)) == {"feeds": "unchanged"}
    tested = own.invoke_parsed("test", "--select", "feeds", *options)
    assert tested.success
    assert "model.tangles.feeds" in {getattr(r.node, "attached_node", None) for r in tested.result}

    log = Path(built.vars["ssb_log"])
    log.write_bytes((DATA / "ssb" / "small.jsonl").read_bytes())
    assert statuses(built.invoke_parsed("run", "--select", *MODELS))["feeds"] == "OK"
    assert statuses(own.invoke_parsed("run", "--select", "feeds", *options)) == {"feeds": "OK"}
    assert own.sorted_rows("feeds") == built.sorted_rows("feeds")
    other = project("habits_defer_first", **built.vars)
    refused = refusal(other.invoke_parsed("run", "--select", "feeds", *options))
    assert "Build feeds with its inputs: --select +feeds" in refused
    favored = ("run", "--select", "+feeds", *options, "--favor-state")
    assert set(statuses(other.invoke_parsed(*favored)).values()) == {"OK"}
    assert other.sorted_rows("feeds") == built.sorted_rows("feeds")


@pytest.mark.long
def test_parts_that_are_left_out(project, capfd):
    """A build leaves out systems by their tags; tests of documents say which tables they lack.

    This is a build of its own: in a warehouse with tables, the tests would read them.
    """
    capfd.readouterr()
    built = project("habits_parts").build("--exclude", "tag:pzp", "tag:autobase")
    said = re.sub(r"\x1b\[\d*m", "", capfd.readouterr().out)
    assert {"feeds", "tangles", "group_members", "timeline_events"} <= tables(built)
    assert not [name for name in tables(built) if re.search("^(stg|int)_(pzp|autobase|set|base)|^set|^autobase", name)]
    left_out = dict(re.findall(r"(\w+) leaves out tables that are neither built nor selected: (.+)", said))
    assert left_out.keys() == {"documents_sets", "documents_autobase", "foreign_keys_have_rows"}
    assert {"set_items", "set_next"} <= {*left_out["documents_sets"].split(", ")}

    said = refusal(project("habits_timelines").invoke_parsed("build", "--exclude", "tag:ssb"))
    assert "Build these first, or leave such tests out: --exclude timelines_hold_every_message" in said


SOURCES = """
sources:
  - name: received
    schema: "{{ target.schema }}"
    tables:
      - name: ssb_lines
        config:
          loaded_at_field: cast(loaded_at as timestamp)
          freshness: {warn_after: {count: 1, period: day}, error_after: {count: 30, period: day}}
"""
BROKEN = "select no_such_column from {{ ref('tangles', 'feeds') }}"


@pytest.fixture(scope="module")
def forum(project, tmp_path_factory) -> DbtProject:
    """A project that installs this one: its log is a source, and one of its models fails."""
    models = {"names.sql": BROKEN, "count_names.sql": "select count(*) as n from {{ ref('names') }}", "s.yml": SOURCES}
    folder = installing(
        tmp_path_factory.mktemp("habits") / "forum",
        models,
        models={"installer": {"+materialized": "table", "+file_format": "parquet"}},
        seeds={"installer": {"+file_format": "parquet"}},
        vars={"tangles": {"ssb_log": {"source": ["received", "ssb_lines"]}}},
    )
    lines = (DATA / "ssb" / "small.jsonl").read_text().splitlines()[:30]
    (folder / "seeds").mkdir()
    with open(folder / "seeds" / "ssb_lines.csv", "w", newline="") as file:
        csv.writer(file).writerows([["raw", "loaded_at"], *([line, "2026-01-02 03:04:05"] for line in lines)])
    built = project("habits_forum", folder)
    assert built.invoke("seed").success
    return built


@pytest.mark.long
def test_freshness_of_a_log_that_is_a_source(forum):
    """Its loading time is long ago, so the check fails, as it should."""
    result = forum.invoke("source", "freshness")
    (found,) = [r for r in result.result if r.node.resource_type == "source"]
    assert (found.node.name, str(found.status)) == ("ssb_lines", "error")
    assert found.max_loaded_at.isoformat().startswith("2026-01-02T03:04:05")
    assert found.age > 30 * 24 * 3600


def mend(forum: DbtProject) -> None:
    (forum.project_dir / "models" / "names.sql").write_text("select author from {{ ref('tangles', 'feeds') }}")


@pytest.mark.long
def test_retry_builds_failed_and_skipped_models(forum):
    result = forum.invoke("run", "--select", "+feeds", "names+")
    assert {r.node.name: str(r.status) for r in result.result if r.status != "success"} == {
        "names": "error",
        "count_names": "skipped",
    }
    mend(forum)
    assert statuses(forum.invoke("retry")) == {"names": "OK", "count_names": "OK"}
    assert forum.rows("count_names") == [{"n": len(forum.rows("feeds"))}]


@pytest.mark.long
def test_a_project_that_installs_this_one_clones_with_a_macro(forum, tmp_path):
    """The macro is that of the page. The project's own tables are copied likewise; a view is made over the other's."""
    mend(forum)
    statuses(forum.invoke("run", "--select", "+names"))
    state = keep_state(forum, tmp_path / "state")
    copy = DbtProject(forum.warehouse, "habits_forum_clone", forum.project_dir)
    cloned = statuses(copy.invoke("clone", "--select", "+names", "--state", state))
    assert cloned.pop("stg_tables__lines") != "cloned"
    assert set(cloned.values()) == {"cloned"} and cloned.keys() >= {"names", "feeds"}
    assert copy.sorted_rows("names") == forum.sorted_rows("names") and copy.sorted_rows("feeds") == forum.sorted_rows(
        "feeds"
    )


@pytest.mark.long
def test_state_modified_names_the_changed_models(forum, tmp_path):
    """Without a change it is empty, also with another log and another path of the project's folder."""
    mend(forum)
    assert forum.invoke("parse").success
    state = keep_state(forum, tmp_path / "state")

    def modified(built: DbtProject) -> list[str]:
        result = built.invoke("ls", "--select", "state:modified+", "--resource-type", "model", "--state", state)
        assert result.success, result.exception
        return [name.rpartition(".")[2] for name in result.result]

    assert modified(forum) == []
    moved = tmp_path / "moved"
    shutil.copytree(forum.project_dir, moved, symlinks=True)
    elsewhere = DbtProject(forum.warehouse, forum.schema, moved)
    assert modified(elsewhere) == []
    path = moved / "models" / "names.sql"
    path.write_text(f"{path.read_text()} where author is not null")
    assert modified(elsewhere) == ["count_names", "names"]
