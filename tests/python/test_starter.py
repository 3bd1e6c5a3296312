"""The project that `tangles init` makes: its files, its valid places, and its own tests on ordinary logs."""

import shutil
from pathlib import Path

import pytest
import yaml
from dbt.cli.main import dbtRunner

from cli_kit import tangles
from conftest import DbtProject
from dbt_tangles.cli import init
from fixtures.ssb.author import Author, to_line


def dbt(command: str, folder: Path, *options: str):
    """Run a command of dbt in a project and return its result."""
    return dbtRunner().invoke([command, "--project-dir", str(folder), "--profiles-dir", str(folder), *options])


def thread_of_two_kinds() -> bytes:
    """Write a thread: its first reply names the root in both forms, as clients do now, its second in the old form."""
    alice = Author.from_seed("starter: alice")
    begun = {"thread": {"root": None, "previous": None}}
    root = alice.publish({"type": "post", "text": "hello", "tangles": begun}, 1)
    old = {"root": root["key"], "branch": root["key"]}
    both = {**old, "tangles": {"thread": {"root": root["key"], "previous": [root["key"]]}}}
    first = alice.publish({"type": "post", "text": "in both ways", **both}, 2)
    second = alice.publish({"type": "post", "text": "in the old way", **old, "branch": first["key"]}, 3)
    return b"\n".join(map(to_line, [root, first, second])) + b"\n"


def is_of_tangles(node) -> bool:
    """Whether a node is a model of tangles."""
    return node.package_name == "tangles" and node.resource_type == "model"


@pytest.mark.long
def test_a_thread_of_two_kinds_has_one_row(warehouse, tmp_path):
    """The larger tangle represents the thread, and the project's tests pass."""
    folder = tmp_path / "forum"
    init.make_project(folder)
    (folder / "example.jsonl").write_bytes(thread_of_two_kinds())
    settings = yaml.safe_load((folder / "dbt_project.yml").read_text())
    settings["vars"]["tangles"]["ssb_log"] = str(folder / "example.jsonl")
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(settings))
    assert dbt("deps", folder).success
    built = DbtProject(warehouse, "starter", folder)
    built.build("--select", "+largest_threads")
    kinds = {row["tangle_name"]: row["member_count"] for row in built.rows("tangles")}
    assert (kinds["thread"], kinds["ssb:legacy_thread"]) == (2, 3)
    (row,) = built.rows("largest_threads")
    assert (row["tangle_name"], row["member_count"]) == ("ssb:legacy_thread", 3)

    # A repeated run keeps all tables of tangles, plain ones too.
    again = built.invoke("run", "--select", "+largest_threads")
    assert again.success, again.exception
    ours = {each.node.name: each.adapter_response.get("_message") for each in again.result if is_of_tangles(each.node)}
    assert {"int_tangle_claims", "tangles"} <= ours.keys()
    assert set(ours.values()) == {"unchanged"}


def test_a_new_project(tmp_path):
    """The first build has few steps, and no file names a local path, after `init` and after dbt has written its lock.

    Files that Git ignores may name one.
    """
    folder = tmp_path / "forum"
    init.make_project(folder)
    assert dbt("deps", folder).success
    ignored = {name.rstrip("/") for name in (folder / ".gitignore").read_text().split()}
    files = {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and ignored.isdisjoint(path.relative_to(folder).parts)
    }
    assert {"packages.yml", "package-lock.yml", "dbt_project.yml", "profiles.yml"} <= files.keys()
    kinds = ["model", "seed", "snapshot", "test", "unit_test"]
    steps = dbt("ls", folder, "--quiet", *(word for kind in kinds for word in ("--resource-type", kind))).result
    assert 80 < len(steps) < 100
    places = [str(init.project_folder()), str(tmp_path), str(Path.home())]
    assert not [name for name, text in files.items() for place in places if place in text]
    lock = yaml.safe_load(files["package-lock.yml"])
    assert [package["local"] for package in lock["packages"]] == [".tangles"]


def test_a_clone_needs_its_link(tmp_path):
    """Without the link dbt names the missing file; `init` makes the link, and repairs one that leads to no folder."""
    init.make_project(tmp_path / "forum")
    clone = tmp_path / "elsewhere" / "clone"
    shutil.copytree(tmp_path / "forum", clone, ignore=shutil.ignore_patterns(init.LINK))
    lost = dbt("deps", clone)
    assert not lost.success
    assert f"{init.LINK}/dbt_project.yml" in str(lost.exception)
    for _ in range(2):
        made = tangles("init", str(clone))
        assert made.exit_code == 0, made.output
        assert (clone / init.LINK).resolve() == init.project_folder().resolve()
        assert dbt("deps", clone).success
        (clone / init.LINK).unlink()
        (clone / init.LINK).symlink_to(tmp_path / "gone")


def test_a_link_never_replaces_a_folder(tmp_path):
    (tmp_path / "dbt_project.yml").touch()
    (tmp_path / init.LINK).mkdir()
    refused = tangles("init", str(tmp_path))
    assert refused.exit_code == 2
    assert "is not a link" in refused.output


@pytest.mark.parametrize(("installed", "target"), [({"pyspark", "pysail"}, "sail"), ({"pyspark"}, "local"), ((), None)])
def test_the_target_is_of_the_engine_that_is_installed(installed, target, monkeypatch, tmp_path):
    distribution = init.distribution

    def only_installed(name):
        return distribution("dbt-core" if name in installed else "no-such-distribution")

    monkeypatch.setattr(init, "distribution", only_installed)
    answer = tangles("init", str(tmp_path / "forum"))
    assert answer.exit_code == 0, answer.output
    profile = yaml.safe_load((tmp_path / "forum" / "profiles.yml").read_text())["tangles"]
    assert (profile["target"], [*profile["outputs"]]) == (target or "local", [target or "local"])
    assert (target is None) == ("pip install 'dbt-tangles[sail]'" in answer.output)
