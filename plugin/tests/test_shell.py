"""Paths and commands as messages show them."""

import os
import sys
from pathlib import Path

import pytest

from dbt_spark_python.session.shell import shown_command, shown_path


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A command beside its own Python, in a folder with a space; the shell is in the parent folder."""
    place = tmp_path / "my env" / "bin"
    place.mkdir(parents=True)
    (place / "asked").touch(0o755)
    monkeypatch.setattr(sys, "executable", str(place / "python"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin")
    return place / "asked"


def test_a_command_is_shown_as_the_shell_finds_it(program, monkeypatch, tmp_path):
    assert shown_command(["asked", "--in", "a b"]) == "'my env/bin/asked' --in 'a b'"
    assert shown_command(["nowhere", "status"]) == "nowhere status"
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    assert shown_command(["asked", "status"]) == "asked status"
    (tmp_path / "asked").symlink_to("/bin/true")  # from another environment
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert shown_command(["asked"]) == "'my env/bin/asked'"


def test_a_path_is_relative_to_the_folder_of_the_shell_alone(program, monkeypatch, tmp_path):
    assert shown_path(tmp_path / "warehouse") == shown_path(Path("warehouse")) == "warehouse"
    assert shown_path(tmp_path.parent / "warehouse") == str(tmp_path.parent / "warehouse")
    monkeypatch.chdir(tmp_path / "my env")  # dbt changes its folder for --project-dir
    assert shown_path(Path("warehouse")) == str(tmp_path / "my env" / "warehouse")
