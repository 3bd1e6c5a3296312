"""A misspelt name of a var is refused before the build starts, with the probable name."""

import re

import pytest
import yaml

from conftest import ROOT, DbtProject, refusal
from dbt_projects import installing, write

#: A selection that builds in a second: an empty view.
FEW = ("run", "--select", "stg_tables__lines")
MODELS = {"mine.sql": "select '{{ var(\"block_limit\", 1) }}' as block_limit"}


def sentence(place: str, name: str, nearest: str) -> str:
    remedy = f"write '{nearest}', the nearest name, or remove it"
    return f'{place} has "{name}", but tangles lacks a var of that name: {remedy}'


#: Unknown names, and the nearest name of each; `plugin/tests/test_project_vars.py` has more.
UNKNOWN = {"ssb_logs": "ssb_log", "ssb-log": "ssb_log", "consensus": "consensus_rule"}


def test_all_unknown_names_are_refused_at_once(manifest, project):
    """Every unknown var of this project is refused, because all its vars are vars of tangles; no model runs."""
    here = project("unknown_var", **dict.fromkeys(UNKNOWN, "mine.jsonl"))
    said = refusal(here.invoke(*FEW, manifest=manifest))
    assert [name for name, nearest in UNKNOWN.items() if sentence("--vars", name, nearest) not in said] == []
    assert not (here.warehouse / "unknown_var.db" / "stg_tables__lines").exists()


@pytest.mark.parametrize("name", ["hmac_key", pytest.param("ssb_hmac_keys", marks=pytest.mark.long)])
def test_a_key_under_a_near_name_is_not_shown(name, manifest, project):
    """The error hides the value and names the environment variable, as the error for the key's own var does."""
    said = refusal(project("unknown_var", **{name: "not-to-be-seen"}).invoke(*FEW, manifest=manifest))
    assert f"var '{name}' is not taken" in said
    assert "TANGLES_SSB_HMAC_KEY" in said
    assert "not-to-be-seen" not in said


class Consumer:
    """A project that installs this one, parsed once, because names of vars do not change its nodes."""

    def __init__(self, project: DbtProject) -> None:
        self.project = project
        self.file = project.project_dir / "dbt_project.yml"
        self.settings = yaml.safe_load(self.file.read_text())
        self.manifest = project.parse()

    def run(self, variables: dict, on_command_line: dict) -> str:
        """Return the message of a command with these `vars:` and these `--vars`; empty on success."""
        write(self.file, {**self.settings, "vars": variables})
        self.project.vars = on_command_line
        result = self.project.invoke(*FEW, manifest=self.manifest)
        return "" if result.success else refusal(result)


@pytest.fixture(scope="module")
def consumer(project, tmp_path_factory) -> Consumer:
    """A project with a model that reads a var of its own."""
    return Consumer(project("var_names", installing(tmp_path_factory.mktemp("consumer") / "p", MODELS)))


def test_names_that_are_meant_for_tangles_are_refused(consumer):
    """Below `tangles:` every unknown name is refused; elsewhere only a near miss, as other packages have vars there."""
    ours = {"colour": 1, "ssb_logs": "a"}
    said = consumer.run(
        {"tangles": ours, "ssb_logs": "a", "tangle": {"ssb_log": "a"}}, {"event_logs": "a", "graph_limits": 1}
    )
    assert 'vars: tangles: has "colour", but tangles lacks a var of that name: write ' in said
    for place, name, nearest in (
        ("vars: tangles:", "ssb_logs", "ssb_log"),
        ("vars:", "ssb_logs", "ssb_log"),
        ("vars:", "tangle", "tangles"),
        ("--vars", "event_logs", "event_log"),
        ("--vars", "graph_limits", "graph_limit"),
    ):
        assert sentence(place, name, nearest) in said
    assert "vars of tangles stand below vars: tangles:, and those of this project below vars: installer:" in said


def test_names_of_others_are_not_refused(consumer):
    """A name is accepted if it is not near, is below the project's own name, or is read by the project's code."""
    assert consumer.run({"colour": 1, "installer": {"ssb_logs": "a"}, "block_limit": 2}, {"paper": 1}) == ""
    assert consumer.run({}, {"block_limit": 2}) == ""


def test_the_names_are_in_one_list():
    """Each listed var has a default; `ssb_log` and similar vars are listed with their models."""
    macros = ROOT / "macros" / "inputs"
    listed = re.findall(
        r"^        '(\w+)':", (macros / "logs.sql").read_text() + (macros / "settings.sql").read_text(), re.M
    )
    assert len(listed) > 15
    defaults = yaml.safe_load((ROOT / "dbt_project.yml").read_text())["vars"]
    assert sorted(listed) == sorted(defaults)
