"""The GitHub Action and the pre-commit hooks: their steps are run on logs as a runner runs them."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

import pytest
import yaml

import cli_story as story
from conftest import ENGINE, ROOT
from fixtures.ssb.author import Author, to_line

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
STEPS = ACTION["runs"]["steps"]
WORKFLOWS = [path.read_text() for path in (ROOT / ".github" / "workflows").iterdir()]
HOSTILE = "::add-path::/tmp\n::error::x\n ::debug::x\nx ##[add-path]/tmp"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a log, statements about it, and the programs `tangles`, and `make`, which notes its arguments."""
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
    for name, text in (("tangles", tangles), ("make", '#!/bin/sh\nprintf "%s\\n" "$@" > make.txt\n')):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return folder


def environment(place) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("DBT_", "TANGLES_"))}
    clean |= {"PATH": f"{place / 'bin'}:{clean['PATH']}", "GITHUB_ACTION_PATH": str(ROOT)}
    return clean | {"RUNNER_TEMP": str(place / "temp"), "TANGLES_TARGET": ENGINE}


def is_wanted(step: dict, inputs: dict[str, str]) -> bool:
    terms = step["if"].split(" || ") if "if" in step else []
    parts = [re.fullmatch(r"inputs\.([\w-]+) (==|!=) '(.*)'", term).groups() for term in terms]
    return not parts or any((inputs[name] == text) == (sign == "==") for name, sign, text in parts)


def run_action(place, begin: str = "", **given: str) -> tuple[list[str], subprocess.CompletedProcess]:
    """Run the action from the step `begin` on until a step fails; return the steps and the last result."""
    given = {name.replace("_", "-"): value for name, value in given.items()}
    assert given.keys() <= ACTION["inputs"].keys()
    inputs = {name: given.get(name, about.get("default", "")) for name, about in ACTION["inputs"].items()}
    inputs["engine"] = given.get("engine", {"local": "spark", "sail": "sail"}[ENGINE])
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


def obeyed(output: str) -> list[str]:
    found, token = [], None
    for line in output.splitlines():
        if token:
            token = None if line == f"::{token}::" else token
        elif stop := re.fullmatch(r"::stop-commands::([0-9a-f]{64})", line):
            token = stop[1]
        elif line.lstrip().startswith("::") or "##[" in line:
            found.append(line)
    assert token is None
    return found


def test_scripts_take_inputs_from_the_environment_alone():
    """A script with an expression in it would run the input as code; each step has a time limit."""
    assert all("action_step.py" in step["run"] and "MINUTES" in step["env"] for step in STEPS)
    assert ACTION["runs"]["using"] == "composite"
    assert [step["name"] for step in STEPS if "${{" in step["run"] or step["shell"] != "bash"] == []
    assert all(about["description"] for about in ACTION["inputs"].values())


def test_a_sound_log(place):
    tokens = set()
    for log in ("\na log.jsonl\n\n", "a log.jsonl"):
        names, done = run_action(place, log=log)
        assert names == ["Install tangles", "Judge the log"] and done.returncode == 0
        assert obeyed(done.stdout) == [] and done.stderr == ""
        tokens.add(done.stdout.splitlines()[0])
    assert len(tokens) == 2


def test_the_installation_takes_locked_packages(place):
    for engine, target in (("sail", ".venv/sail"), ("spark", ".venv/installed")):
        run_action(place, log="a log.jsonl", engine=engine, lint="false")
        assert (place / "make.txt").read_text().split() == ["--directory", str(ROOT), target]
        recipe = subprocess.run(["make", "-nB", "-C", ROOT, target], capture_output=True, text=True, check=True).stdout
        installs = [line for line in recipe.splitlines() if "pip install" in line]
        assert len(installs) > 1 and all("--no-deps" in line for line in installs)
        assert all("--require-hashes" in line or "--no-build-isolation" in line for line in installs)


def test_actions_of_others_are_commits():
    for text in (*WORKFLOWS, (ROOT / "docs/how-to/ci-gate.md").read_text()):
        used = re.findall(r"uses: (?!OWNER/tangles@COMMIT\n)(.+)", text)
        assert used and [each for each in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[0-9.]+", each)] == []


def test_findings_are_annotations(place):
    names, done = run_action(place, log="a log.jsonl\ndamaged.jsonl", expectations="right.jsonl")
    assert names[-1] == "Judge the log" and done.returncode == 1
    (line,) = obeyed(done.stdout)
    assert line.startswith("::error file=damaged.jsonl,line=2,title=not_a_message::")
    assert run_action(place, log="damaged.jsonl", ignore="bad_signature\nnot_a_message", kind="ssb")[1].returncode == 0


def test_hostile_inputs_stay_texts(place):
    for log in ("--help", "$(touch hacked)", "`touch hacked`", "; touch hacked"):
        _, done = run_action(place, log=log)
        assert done.returncode == 2 and "does not exist" in done.stdout
    assert not (place / "hacked").exists()


def test_texts_of_logs_are_no_commands(place):
    """Names of files, ids and statements reach the output, and the runner obeys the annotations alone."""
    event = {"timeline": HOSTILE, "event": HOSTILE, "after": [], "arrival": 1}
    name = "::set-env name=x::y, ##[add-path]z%0A::error::.jsonl"
    lines = (json.dumps(event), json.dumps(event | {"arrival": 2, "after": ["x"]}), "::error::no JSON")
    (place / name).write_text("\n".join(lines) + "\n")
    _, done = run_action(place, log=name)
    found = obeyed(done.stdout)
    assert done.returncode == 1 and len(found) > 1
    file = "%3A%3Aset-env name=x%3A%3Ay%2C ##\\x5badd-path]z%250A%3A%3Aerror%3A%3A.jsonl"
    assert [line for line in found if not line.startswith(f"::error file={file},") or "##[" in line] == []


@pytest.mark.parametrize(
    ("minutes", "code", "said"),
    [
        ("0.01", 124, "::error::tangles: stopped after 0.01 minutes"),
        ("x", 2, "no number"),
        ("nan", 2, "no number"),
        ("-1", 2, "no number"),
    ],
)
def test_a_command_has_a_time_limit(place, minutes, code, said):
    """The processes that it has started end, too; they would keep the step's output open."""
    begin = time.monotonic()
    command = [sys.executable, ROOT / ".ci" / "action_step.py", "sh", "-c", "echo '::error::x' >&2; sleep 60"]
    done = subprocess.run(
        command, env=environment(place) | {"MINUTES": minutes}, capture_output=True, text=True, check=False
    )
    assert done.returncode == code and said in done.stdout and done.stderr == ""
    assert [line for line in obeyed(done.stdout) if "stopped after" not in line] == []
    assert time.monotonic() - begin < 30


def check_steps(place, right: str, wrong: str, conditions: str) -> None:
    """Run the steps behind the build: a statement that differs fails its step."""
    given = {"log": "a log.jsonl", "begin": "Check the expectations", "fail_on": conditions}
    names, done = run_action(place, **given, expectations=right)
    assert names == [step["name"] for step in STEPS][-2:] and done.returncode == 0, done.stderr
    names, done = run_action(place, **given, expectations=wrong)
    assert names == ["Check the expectations"] and done.returncode == 1
    assert "sequence: the peer says 2, the tables say 3" in done.stdout


def test_expectations_and_conditions_of_written_tables(place):
    story.write(place / "temp" / "tangles")
    for name, length in (("three", 3), ("two", 2)):
        (place / f"{name}.jsonl").write_text(json.dumps({"feed": story.ALICE, "sequence": length}))
    check_steps(place, "three.jsonl", "two.jsonl", "set_aside=2,forks")
    _, done = run_action(place, "Check the conditions", log="a log.jsonl", fail_on="set_aside")
    assert done.returncode == 1 and "set_aside: 2, 0 allowed" in done.stdout
    shutil.rmtree(place / "temp")


@pytest.mark.long
def test_expectations_and_conditions(place):
    """The tables are built once; a statement that differs, or a condition that fails, fails the step."""
    given = {"log": "a log.jsonl\ndamaged.jsonl", "ignore": "not_a_message", "expectations": "right.jsonl"}
    names, done = run_action(place, fail_on="rejects", **given)
    assert names == [step["name"] for step in STEPS] and done.returncode == 1
    assert "rejects: 1, 0 allowed" in done.stdout
    check_steps(place, "right.jsonl", "wrong.jsonl", "rejects=1,forks,set_aside,failed_run")


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


def test_the_check_hook_without_its_log(place):
    done = run_hook(place, "tangles-check", ["right.jsonl", "--log", "missing.jsonl"], [])
    assert done.returncode == 2 and "does not exist" in done.stderr


@pytest.mark.long
def test_the_check_hook(place):
    done = run_hook(place, "tangles-check", ["wrong.jsonl", "--log", "a log.jsonl"], ["a log.jsonl"])
    assert done.returncode == 1 and "the tables say 3" in done.stdout, done.stderr


def test_hooks_install_the_plugin_of_this_repository():
    for hook in HOOKS.values():
        (folder,) = hook["additional_dependencies"]
        assert hook["language"] == "python" and (ROOT / folder.partition("[")[0] / "pyproject.toml").is_file()
