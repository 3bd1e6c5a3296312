"""A misspelt name of a var is refused before the build starts, with the probable name."""

import re

import pytest
import yaml

from conftest import ROOT, DbtProject
from dbt_projects import installing, write

#: A selection that builds in a second: an empty view.
FEW = ("run", "--select", "stg_tables__lines")
MODELS = {"mine.sql": "select '{{ var(\"block_limit\", 1) }}' as block_limit"}


def answer(result) -> str:
    """Return dbt's message, or an empty string on success."""
    return "" if result.success else str(result.exception) + "".join(str(each.message) for each in result.result or [])


def refusal(place: str, name: str, nearest: str) -> str:
    """Return the sentence about one name."""
    remedy = f"write '{nearest}', the nearest name, or remove it"
    return f'{place} has "{name}", but tangles lacks a var of that name: {remedy}'


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        *(("ssb_logs", "ssb_log"), ("ssb-log", "ssb_log"), ("SSB_LOG", "ssb_log"), ("log", "ssb_log")),
        *(("verify_signature", "verify_signatures"), ("edit_limits", "edit_limit"), ("consensus", "consensus_rule")),
        ("ssb_log_formt", "ssb_log_format"),
    ],
)
def test_an_unknown_name_is_refused(name, nearest, manifest, project):
    """Every unknown var of this project is refused, because all its vars are vars of tangles; no model runs."""
    here = project("unknown_var", **{name: "mine.jsonl"})
    result = here.invoke(*FEW, manifest=manifest)
    assert refusal("--vars", name, nearest) in answer(result)
    assert not (here.warehouse / "unknown_var.db" / "stg_tables__lines").exists()


def test_all_unknown_names_are_reported_at_once(manifest, project):
    said = answer(project("unknown_var", ssb_logs="a", edit_limits=1).invoke(*FEW, manifest=manifest))
    assert refusal("--vars", "ssb_logs", "ssb_log") in said
    assert refusal("--vars", "edit_limits", "edit_limit") in said


@pytest.mark.parametrize("name", ["hmac_key", "ssb_hmac_keys"])
def test_a_key_under_a_near_name_is_not_shown(name, manifest, project):
    """The error hides the value and names the environment variable, as the error for the key's own var does."""
    said = answer(project("unknown_var", **{name: "not-to-be-seen"}).invoke(*FEW, manifest=manifest))
    assert f"var '{name}' is not taken" in said
    assert "TANGLES_SSB_HMAC_KEY" in said
    assert "not-to-be-seen" not in said


class Consumer:
    """A project that installs this one, parsed once, because names of vars do not change its nodes."""

    def __init__(self, project: DbtProject) -> None:
        self.project = project
        self.file = project.project_dir / "dbt_project.yml"
        self.settings = yaml.safe_load(self.file.read_text())
        result = project.invoke("parse")
        assert result.success, result.exception
        self.manifest = result.result

    def run(self, variables: dict, on_command_line: dict, *command: str) -> str:
        """Return the message of a command with these `vars:` and these `--vars`; empty on success."""
        write(self.file, {**self.settings, "vars": variables})
        self.project.vars = on_command_line
        return answer(self.project.invoke(*(command or FEW), manifest=self.manifest))


@pytest.fixture(scope="module")
def consumer(project, tmp_path_factory) -> Consumer:
    """A project with a model that reads a var of its own."""
    return Consumer(project("var_names", installing(tmp_path_factory.mktemp("consumer") / "p", MODELS)))


@pytest.mark.parametrize(
    ("variables", "on_command_line", "expected"),
    [
        ({"tangles": {"colour": 1}}, {}, ("vars: tangles:", "colour", "clock_limit")),
        ({"tangles": {"ssb_logs": "a"}}, {}, ("vars: tangles:", "ssb_logs", "ssb_log")),
        ({"ssb_logs": "a"}, {}, ("vars:", "ssb_logs", "ssb_log")),
        ({"tangle": {"ssb_log": "a"}}, {}, ("vars:", "tangle", "tangles")),
        ({}, {"event_logs": "a"}, ("--vars", "event_logs", "event_log")),
        ({}, {"graph_limits": 1}, ("--vars", "graph_limits", "graph_limit")),
    ],
)
def test_a_name_that_is_meant_for_tangles_is_refused(variables, on_command_line, expected, consumer):
    """Below `tangles:` every unknown name is refused; elsewhere only a near miss, as other packages have vars there."""
    said = consumer.run(variables, on_command_line)
    place, name, nearest = expected
    assert f'{place} has "{name}", but tangles lacks a var of that name: write ' in said
    assert name == "colour" or refusal(place, name, nearest) in said
    assert "vars of tangles stand below vars: tangles:, and those of this project below vars: installer:" in said


def test_vars_on_the_command_line_have_no_scope(consumer):
    """A `tangles:` block in `--vars` is refused, because dbt ignores scopes there."""
    said = consumer.run({}, {"tangles": {"ssb_log": "a"}})
    assert "--vars has 'tangles', but --vars cannot have scopes" in said


def test_names_of_others_are_not_refused(consumer):
    """A name is accepted if it is not near, is below the project's own name, or is read by the project's code."""
    assert consumer.run({"colour": 1, "installer": {"ssb_logs": "a"}, "block_limit": 2}, {"paper": 1}) == ""
    assert consumer.run({}, {"block_limit": 2}) == ""


def test_a_run_without_tangles_may_have_any_name(consumer):
    assert consumer.run({"tangles": {"colour": 1}}, {"ssb_logs": "a"}, "run", "--select", "mine") == ""


def test_the_names_are_in_one_list():
    """Each listed var has a default; `ssb_log` and similar vars are listed with their models."""
    macros = ROOT / "macros" / "inputs"
    listed = re.findall(
        r"^        '(\w+)':", (macros / "logs.sql").read_text() + (macros / "settings.sql").read_text(), re.M
    )
    assert len(listed) > 15
    defaults = yaml.safe_load((ROOT / "dbt_project.yml").read_text())["vars"]
    assert sorted(listed) == sorted(defaults)
    page = (ROOT / "docs" / "reference" / "vars.md").read_text()
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.M)) == sorted(defaults)
