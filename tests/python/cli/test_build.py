"""`tangles build`: its vars, logs and engines, and the exit code of a build. `test_first_commands.py` builds."""

import io
import json
from types import SimpleNamespace

import click
import pytest

import cli_story as story
from answer_schemas import validate
from cli_kit import HOSTILE, assert_harmless, tangles
from cli_story import run
from conftest import DATA
from dbt_tangles.cli import build, build_run, init
from dbt_tangles.cli.build import log_vars, read_vars, target_of
from dbt_tangles.cli.log_arguments import with_standard_input
from dbt_tangles.cli.tables import CommandError

EVENT = '{"timeline": "t", "event": "e", "after": [], "arrival": 1}\n'
NODE = '{"base": "b", "indexers": []}\n'


def test_vars_are_yaml():
    given = ("edit_batch_size=2", "verify_signatures=false", "tangle_engine=sql", "max_previous=null")
    values = {"edit_batch_size": 2, "verify_signatures": False, "tangle_engine": "sql", "max_previous": None}
    assert read_vars(given) == values


@pytest.mark.parametrize("given", ["nothing=1", "ssb_log=x", "edit_batch_size", "edit_batch_size={"])
def test_wrong_vars(given):
    with pytest.raises(CommandError, match=r"^--var "):
        read_vars((given,))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TANGLES_WAREHOUSE", "")
    monkeypatch.setenv("TANGLES_SCHEMA", "tangles")
    monkeypatch.setattr(build, "target_of", lambda engine: engine or "sail")
    for name, text in (("a.jsonl", EVENT), ("b.jsonl", EVENT), ("c.jsonl", NODE)):
        (tmp_path / name).write_text(text)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "d.jsonl").write_text(NODE)
    return tmp_path


@pytest.mark.parametrize(
    ("logs", "expected"),
    [
        (["a.jsonl"], {"event_log": "{}/a.jsonl"}),
        (["file:{}/a.jsonl"], {"event_log": "file:{}/a.jsonl"}),
        (["logs", "a.jsonl"], {"event_log": "{}/a.jsonl", "autobase_log": "{}/logs"}),
        (["a.jsonl", "b.jsonl"], {"event_log": "{{{0}/a.jsonl,{0}/b.jsonl}}"}),
        (["[ab].jsonl"], {"event_log": "{}/[ab].jsonl"}),
        (["*.jsonl"], {"event_log": "{{{0}/a.jsonl,{0}/b.jsonl}}", "autobase_log": "{}/c.jsonl"}),
    ],
)
def test_logs_become_vars(folder, logs, expected):
    found = log_vars(tuple(log.format(folder) for log in logs), None, is_pretty=False)
    assert found == {name: path.format(folder) for name, path in expected.items()}


def test_names_that_are_globs(folder):
    (folder / "{x}.jsonl").write_text(EVENT)
    assert log_vars(("{x}.jsonl",), None, is_pretty=False) == {"event_log": f"{folder}/{{x}}.jsonl"}
    with pytest.raises(CommandError, match="put the logs of a kind into a folder"):
        log_vars(("{x}.jsonl", "a.jsonl"), None, is_pretty=False)


def test_the_standard_input_is_a_file_while_a_build_runs(folder, monkeypatch):
    """It keeps its name, so that a later build finds the lines at their places, and it is gone afterwards."""
    monkeypatch.setattr(click, "get_binary_stream", lambda name: io.BytesIO(NODE.encode()))
    path = folder / "own" / "<stdin>"
    with with_standard_input(("-", "a.jsonl"), folder / "own") as logs:
        found = log_vars(logs, None, is_pretty=False)
        assert found == {"autobase_log": str(path), "event_log": f"{folder}/a.jsonl"} and path.read_text() == NODE
        refused = with_standard_input(("-",), folder / "own")
        with pytest.raises(CommandError, match="another command reads its standard input"), refused:
            pass
        assert path.read_text() == NODE
    assert not path.exists()


def test_engines(monkeypatch):
    monkeypatch.delenv("TANGLES_TARGET", raising=False)
    installed = {"pysail", "pyspark"}
    monkeypatch.setattr(init, "is_installed", lambda name: name in installed)
    assert [target_of(engine) for engine in (None, "sail", "spark")] == ["sail", "sail", "local"]
    installed.remove("pysail")
    assert target_of(None) == "local"
    with pytest.raises(CommandError, match=r"the engine sail is not installed: pip install 'dbt-tangles\[sail\]'"):
        target_of("sail")
    installed.clear()
    with pytest.raises(CommandError, match="no engine is installed"):
        target_of(None)
    monkeypatch.setenv("TANGLES_TARGET", "cluster")
    assert target_of(None) == "cluster"


@pytest.fixture
def built(folder, monkeypatch):
    """Run the command with a stand-in for dbt that leaves the tables of the story."""

    def ask(outcome: build_run.Outcome, *words: str, status: str = "success", log: str = "a.jsonl"):
        seen = []
        if not (folder / "wh").exists():
            story.write(folder / "wh").write("runs", run("one", 1, status))
        monkeypatch.setattr(build_run, "run", lambda *given, **options: seen.append((given, options)) or outcome)
        return tangles("build", log, "--warehouse", folder / "wh", *words), seen

    return ask


DONE = build_run.Outcome(True, True, None)


def test_ends_with_the_status(built, folder):
    result, [(given, options)] = built(DONE, "--var", "edit_limit=5", "--no-tests", "--full-refresh")
    assert result.exit_code == 0 and "5 messages in tangles: member 3" in result.stdout
    assert given[0] == {"edit_limit": 5, "event_log": f"{folder}/a.jsonl"} and given[2] == folder / "wh" / ".tangles"
    assert options == {"tests": False, "full_refresh": True}
    answer = validate(json.loads(built(DONE, "--json")[0].stdout))
    assert answer["is_success"] and answer["error"] is None and answer["runs"][0]["run_id"] == "one"


def test_an_example(built):
    result, [(given, _)] = built(DONE, log="--example")
    assert result.exit_code == 0 and given[0] == {"ssb_log": str(DATA / "ssb" / "small.jsonl")}
    assert [built(DONE, *words)[0].exit_code for words in (["--example"], [])] == [2, 0]


@pytest.mark.parametrize(
    ("outcome", "status", "code", "said"),
    [
        (build_run.Outcome(False, True, HOSTILE), "success", 1, "\\x1b"),
        (DONE, "error", 1, ""),
        (build_run.Outcome(False, False, "var 'edit_limit' is wrong"), "success", 2, "var 'edit_limit' is wrong"),
    ],
    ids=["step", "run", "begin"],
)
def test_failures(built, outcome, status, code, said):
    """The status follows a build that has begun."""
    result, _ = built(outcome, status=status)
    assert result.exit_code == code and said in result.stderr
    assert ("5 messages in tangles" in result.stdout) == (code == 1) == bool(result.stdout)
    assert_harmless(result)


def node(name: str, folder: str, kind: str = "model", status: str = "success", message: str = "") -> SimpleNamespace:
    """Make dbt's event about a step that has ended."""
    about = SimpleNamespace(resource_type=kind, node_name=name, node_path=f"marts/{folder}/x.sql", node_status=status)
    data = SimpleNamespace(node_info=about, run_result=SimpleNamespace(message=message))
    return SimpleNamespace(info=SimpleNamespace(name="NodeFinished"), data=data)


def test_progress_in_words(capsys):
    """An area is told once all its tables are built; failed steps are told with their message."""
    model = {"resource_type": "model", "config": SimpleNamespace(enabled=True)}
    of_feeds, of_sets = (
        SimpleNamespace(**model, original_file_path=f"models/{area}/x.sql") for area in ("feeds", "sets")
    )
    manifest = SimpleNamespace(nodes={"a": of_feeds, "b": of_feeds, "c": of_sets})
    progress = build_run.Progress(manifest, ["ssb_log"], lambda *_: None)
    progress(SimpleNamespace(info=SimpleNamespace(name="RunResultFailure")))
    assert not progress.has_begun
    progress(node("one", "feeds"))
    assert capsys.readouterr().err == ""
    progress(node("two", "feeds"))
    progress(node("three", "sets"))
    progress(node("rows", "feeds", "test", "fail", "Got 2 results\n\x1b[31m"))
    assert progress.has_begun
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith(" s  feeds chained: 2 tables")
    assert second == "  test rows: fail: Got 2 results \\x1b[31m"
    assert progress.end() == "3 tables, 1 test (1 failed)"
    progress(node("four", "sets", message="unchanged"))
    assert progress.end() == "4 tables (1 unchanged), 1 test (1 failed)"
    again = build_run.Progress(manifest, ["ssb_log"], lambda *_: None)
    for name in ("one", "two"):
        again(node(name, "feeds", message="unchanged"))
    assert again.end() == "2 tables (all unchanged)"


def test_check_builds_a_log_first(folder, monkeypatch):
    """`tangles check --log` compares with the tables of a build in a temporary warehouse, which is removed."""
    places = []

    def build_run_of(variables, target, own, **options):
        places.append(own.parent)
        assert variables == {"event_log": f"{folder}/a.jsonl"} and options == {"tests": False, "full_refresh": False}
        story.write(own.parent)
        return outcomes.pop()

    outcomes = [build_run.Outcome(False, True, None), DONE, DONE]
    monkeypatch.setattr(build_run, "run", build_run_of)
    results = []
    for length in (3, 9, 3):
        (folder / "said").write_text(json.dumps({"feed": story.ALICE, "sequence": length}))
        results.append(tangles("check", "said", "--log", "a.jsonl"))
    assert [result.exit_code for result in results] == [0, 1, 2]
    assert "a step of the build failed" in results[-1].stderr and not any(place.exists() for place in places)
