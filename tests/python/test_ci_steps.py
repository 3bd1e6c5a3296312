"""The GitHub Action and the pre-commit hooks: their steps are run on logs as a runner runs them."""

import json
import os
import re
import shlex
import subprocess
import sys

import pytest
import yaml

from conftest import ENGINE, ROOT
from fixtures.ssb.author import Author, to_line

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
STEPS = ACTION["runs"]["steps"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a log, statements about it, and the programs `tangles` and `pip`, which notes its arguments."""
    folder = tmp_path_factory.mktemp("ci")
    alice = Author.from_seed("ci")
    messages = [alice.publish({"type": "post", "text": str(n)}, n) for n in range(3)]
    (folder / "a log.jsonl").write_bytes(b"\n".join(map(to_line, messages)) + b"\n")
    (folder / "damaged.jsonl").write_bytes(to_line(messages[0]) + b"\n{}\n")
    right = {"feed": alice.feed_id, "sequence": 3, "id": messages[-1]["key"]}
    (folder / "right.jsonl").write_text(json.dumps(right))
    (folder / "wrong.jsonl").write_text(json.dumps(right | {"sequence": 2}))
    programs = folder / "bin"
    programs.mkdir()
    tangles = f'#!/bin/sh\nexec {sys.executable} -m dbt_tangles.cli.cli "$@"\n'
    for name, text in (("tangles", tangles), ("pip", '#!/bin/sh\nprintf "%s\\n" "$@" > pip.txt\n')):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return folder


def environment(place) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("DBT_", "TANGLES_"))}
    clean |= {"PATH": f"{place / 'bin'}:{clean['PATH']}", "GITHUB_ACTION_PATH": str(ROOT)}
    return clean | {"RUNNER_TEMP": str(place / "temp"), "TANGLES_TARGET": ENGINE}


def is_wanted(step: dict, inputs: dict[str, str]) -> bool:
    """Evaluate a step's condition: comparisons of inputs with texts, joined by `||`."""
    terms = step["if"].split(" || ") if "if" in step else []
    parts = [re.fullmatch(r"inputs\.([\w-]+) (==|!=) '(.*)'", term).groups() for term in terms]
    return not parts or any((inputs[name] == text) == (sign == "==") for name, sign, text in parts)


def run_action(place, begin: str = "", **given: str) -> tuple[list[str], subprocess.CompletedProcess]:
    """Run the action from the step `begin` on until a step fails; return the steps and the last result."""
    given = {name.replace("_", "-"): value for name, value in given.items()}
    assert given.keys() <= ACTION["inputs"].keys()
    inputs = {name: given.get(name, about.get("default", "")) for name, about in ACTION["inputs"].items()}
    inputs["engine"] = {"local": "spark", "sail": "sail"}[ENGINE]
    names, done = [], None
    first = [step["name"] for step in STEPS].index(begin) if begin else 0
    for step in STEPS[first:]:
        if is_wanted(step, inputs):
            names.append(step["name"])
            variables = {
                name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: inputs[match[1]], value)
                for name, value in step.get("env", {}).items()
            }
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            done = subprocess.run(
                command, cwd=place, env=environment(place) | variables, capture_output=True, text=True, check=False
            )
            if done.returncode:
                break
    return names, done


def test_scripts_take_inputs_from_the_environment_alone():
    """A script with an expression in it would run the input as code."""
    assert ACTION["runs"]["using"] == "composite"
    assert [step["name"] for step in STEPS if "${{" in step["run"] or step["shell"] != "bash"] == []
    assert all(about["description"] for about in ACTION["inputs"].values())


def test_a_sound_log(place):
    names, done = run_action(place, log="\na log.jsonl\n\n")
    assert names == ["Install tangles", "Judge the log"] and (done.returncode, done.stdout) == (0, "")
    command, *folders = (place / "pip.txt").read_text().splitlines()
    assert command == "install" and len(folders) == 2
    assert all(os.path.isfile(os.path.join(folder.partition("[")[0], "pyproject.toml")) for folder in folders)


def test_findings_are_annotations(place):
    names, done = run_action(place, log="a log.jsonl\ndamaged.jsonl", expectations="right.jsonl")
    assert names[-1] == "Judge the log" and done.returncode == 1
    (line,) = done.stdout.splitlines()
    assert line.startswith("::error file=damaged.jsonl,line=2,title=not_a_message::")
    assert run_action(place, log="damaged.jsonl", ignore="bad_signature\nnot_a_message", kind="ssb")[1].returncode == 0


def test_hostile_inputs_stay_texts(place):
    """Inputs are never run or taken as options."""
    for log in ("--help", "$(touch hacked)", "`touch hacked`", "; touch hacked"):
        _, done = run_action(place, log=log)
        assert done.returncode == 2 and "does not exist" in done.stderr
    assert not (place / "hacked").exists()


def test_expectations_and_conditions(place):
    """The tables are built once; a statement that differs, or a condition that fails, fails the step."""
    given = {"log": "a log.jsonl\ndamaged.jsonl", "ignore": "not_a_message", "expectations": "right.jsonl"}
    names, done = run_action(place, fail_on="rejects", **given)
    assert names == [step["name"] for step in STEPS] and done.returncode == 1
    assert "rejects: 1, 0 allowed" in done.stdout
    given |= {"begin": "Check the expectations", "fail_on": "rejects=1,forks,set_aside,failed_run"}
    names, done = run_action(place, **given)
    assert names == [step["name"] for step in STEPS][-2:] and done.returncode == 0, done.stderr
    names, done = run_action(place, **given | {"expectations": "wrong.jsonl"})
    assert names == ["Check the expectations"] and done.returncode == 1
    assert "sequence: the peer says 2, the tables say 3" in done.stdout


def run_hook(place, name: str, args: list[str], files: list[str]) -> subprocess.CompletedProcess:
    """Run a hook as pre-commit does: its entry, the user's args, and the names of changed files that it takes."""
    hook = HOOKS[name]
    taken = (
        [file for file in files if re.search(hook.get("files", ""), file)] if hook.get("pass_filenames", True) else []
    )
    command = [*shlex.split(hook["entry"]), *args, *taken]
    return subprocess.run(command, cwd=place, env=environment(place), capture_output=True, text=True, check=False)


def test_the_lint_hook(place):
    files = ["README.md", "a log.jsonl", "log.jsonl.bak"]
    assert run_hook(place, "tangles-lint", [], files).returncode == 0
    done = run_hook(place, "tangles-lint", [], [*files, "damaged.jsonl"])
    assert done.returncode == 1 and "damaged.jsonl:2: not_a_message: " in done.stdout
    assert re.search(HOOKS["tangles-lint"]["files"], "logs/x.ndjson.gz")


def test_the_check_hook(place):
    done = run_hook(place, "tangles-check", ["wrong.jsonl", "--log", "a log.jsonl"], ["a log.jsonl"])
    assert done.returncode == 1 and "the tables say 3" in done.stdout, done.stderr
    done = run_hook(place, "tangles-check", ["right.jsonl", "--log", "missing.jsonl"], [])
    assert done.returncode == 2 and "does not exist" in done.stderr


def test_hooks_install_the_plugin_of_this_repository():
    """pre-commit installs the repository itself and these folders."""
    for hook in HOOKS.values():
        (folder,) = hook["additional_dependencies"]
        assert hook["language"] == "python" and (ROOT / folder.partition("[")[0] / "pyproject.toml").is_file()
