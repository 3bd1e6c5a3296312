"""Workers that lack packages of models: the check, the messages, and the packed file."""

import json
import os
import subprocess
import venv
import zipfile
from importlib.metadata import version
from types import SimpleNamespace

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_spark_python import pack
from dbt_spark_python.python_model import probe, ship_packages, workers
from dbt_spark_python.session import environment

LOOK = "import sys; sys.path.insert(0, sys.argv[1]); import probe; print(probe.look(sys.argv[2:]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The folder with the wheel of a package that is on no index."""
    folder = tmp_path_factory.mktemp("wheels")
    texts = {
        "carried/__init__.py": "weight = 5\n",
        "carried-1.5.dist-info/METADATA": "Metadata-Version: 2.1\nName: Carried\nVersion: 1.5\n",
        "carried-1.5.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "carried-1.5.dist-info/RECORD"
    with zipfile.ZipFile(folder / "carried-1.5-py3-none-any.whl", "w") as made:
        for name, text in {**texts, record: "".join(f"{name},,\n" for name in [*texts, record])}.items():
            made.writestr(name, text)
    return folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    place = tmp_path_factory.mktemp("bare")
    venv.create(place, with_pip=False)
    return place / "bin" / "python"


def look(python, *names, path="") -> dict:
    """The report of another Python on packages."""
    command = [python, "-c", LOOK, environment.HERE / "python_model", *names]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(path)}, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_installed_and_missing_packages(bare):
    assert json.loads(probe.look(["pyarrow", "PyYAML"], 7))["faults"] == {}
    report = look(bare, "pyarrow", "PyYAML")
    assert report["faults"] == {"pyarrow": "not installed", "PyYAML": "not installed"}
    assert report["python"] == str(bare)


def test_a_package_that_is_there_and_cannot_be_imported(bare, tmp_path):
    """A package built for another platform behaves like this."""
    of_package = tmp_path / "broken-2.0.dist-info"
    of_package.mkdir()
    (of_package / "METADATA").write_text("Name: Broken\nVersion: 2.0\n")
    (of_package / "top_level.txt").write_text("_broken\nbroken\n")
    (tmp_path / "broken.py").write_text("raise ImportError('wrong ELF class')\n")
    faults = look(bare, "Broken", path=tmp_path)["faults"]
    assert faults == {"Broken": "cannot be imported: ImportError: wrong ELF class"}


def test_a_package_whose_module_has_another_name(bare, tmp_path):
    """The module is found in the file list if the distribution does not declare it."""
    of_package = tmp_path / "spelled_otherwise-1.dist-info"
    of_package.mkdir()
    (of_package / "METADATA").write_text("Name: spelled-otherwise\nVersion: 1\n")
    (of_package / "RECORD").write_text("so/__init__.py,,\nspelled_otherwise-1.dist-info/METADATA,,\n")
    faults = look(bare, "spelled-otherwise", path=tmp_path)["faults"]
    assert "No module named 'so'" in faults["spelled-otherwise"]
    (tmp_path / "so.py").write_text("")
    assert look(bare, "spelled-otherwise", path=tmp_path)["faults"] == {}


def test_packages_that_are_right():
    workers.check_here(["pyarrow", "pyspark>=3.5,<5", "No.Such_Package; python_version < '3'", "dbt-core[x]"])


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ("no-such-package", r"no-such-package \(not installed\).* pip install 'no-such-package'"),
        ("pyspark<3", r"pyspark<3 \(\d[\d.]+ is installed\).* pip install 'pyspark<3'"),
        ("one two", r"'one two', which is not a valid requirement: .*as pip takes it"),
    ],
)
def test_packages_that_are_not_there(package, said):
    with pytest.raises(DbtRuntimeError, match=said):
        workers.check_here(["pyarrow", package])


def test_a_run_is_refused_by_the_names_of_worker_and_packages():
    report = {"host": "w7", "python": "/usr/bin/python3", "faults": {"numba": "not installed"}}
    workers.refuse(["pyarrow"], [{**report, "faults": {}}])
    with pytest.raises(DbtRuntimeError) as refused:
        workers.refuse(["pyarrow", "numba"], [{**report, "faults": {}}, report])
    assert "a worker lacks: numba (not installed); worker w7, /usr/bin/python3." in str(refused.value)
    assert "python -m dbt_spark_python.pack workers.zip pyarrow numba" in str(refused.value)


def test_a_run_without_python_models_is_not_checked():
    workers.check(SimpleNamespace(method="pigeon"), [])


def test_packages_are_packed_as_they_are_here(wheel, bare, tmp_path, monkeypatch):
    """In this environment's versions, and importable by another Python."""
    file = tmp_path / "workers.zip"
    assert pack.main([str(file), "carried", "--", "--no-index", "--find-links", str(wheel)]) == 0
    zipfile.ZipFile(file).extractall(tmp_path / "unpacked")
    assert look(bare, "Carried", path=tmp_path / "unpacked")["faults"] == {}

    assert f"pyarrow=={version('pyarrow')}\n" in pack.versions()
    monkeypatch.setattr(pack, "versions", lambda: {"carried==1.4\n"})
    before = file.read_bytes()
    assert pack.main([str(file), "carried", "--", "--no-index", "--find-links", str(wheel)]) != 0
    assert file.read_bytes() == before


def test_only_zip_files_are_made(capsys):
    with pytest.raises(SystemExit):
        pack.main(["workers.tar.gz", "pyarrow"])
    assert "its name must end in .zip" in capsys.readouterr().err


def test_a_packed_file_goes_to_the_workers(tmp_path):
    file = tmp_path / "workers.zip"
    given = {"spark.master": "spark://host:7077", ship_packages.PACKED: str(file)}
    with pytest.raises(DbtRuntimeError, match=r"spark.dbt.packed .* is '.*workers.zip', which does not exist"):
        ship_packages.send_packed(dict(given))
    file.touch()
    parameters = dict(given) | {"spark.archives": "mine.zip", "spark.executorEnv.PYTHONPATH": "mine"}
    ship_packages.send_packed(parameters)
    assert parameters == {
        "spark.master": "spark://host:7077",
        "spark.archives": f"{file.as_uri()}#dbt_spark_python_packed,mine.zip",
        "spark.executorEnv.PYTHONPATH": "dbt_spark_python_packed:mine",
    }


@pytest.mark.parametrize(
    ("master", "given", "archives"),
    [
        ("yarn", "", None),
        ("local[2]", "nowhere.zip", None),  # workers that share this environment
        ("local", "nowhere.zip", None),
        ("yarn", "hdfs://all/workers.zip", "hdfs://all/workers.zip#dbt_spark_python_packed"),
    ],
)
def test_settings_without_a_packed_file_on_this_machine(master, given, archives):
    parameters = {"spark.master": master, ship_packages.PACKED: given}
    ship_packages.send_packed(parameters)
    assert parameters.get("spark.archives") == archives
    assert archives or parameters == {"spark.master": master}


@pytest.mark.parametrize(
    ("place", "option"),
    [
        ("/data/w", "-Dderby.system.home=/data/w/.catalog"),
        ("file:///data/w", "-Dderby.system.home=/data/w/.catalog"),
        ("s3a://bucket/w", ""),
        ("/data/w 'n' x", ""),
        ("", ""),
    ],
)
def test_where_derby_goes(place, option):
    assert environment.catalog_option({"spark.sql.warehouse.dir": place}) == option


def test_the_cause_of_a_failed_worker():
    """Spark's own line, whose colon has an empty text behind it, is not the cause."""
    message = """An error occurred while calling o97.collectToPython.
: org.apache.spark.SparkException: Lost task 1.3 in stage 0.0 (TID 7): org.apache.spark.SparkException:
Error from python worker:
  /opt/python3: No module named spark_daemon
PYTHONPATH was:
  /opt/pyspark.zip:packed
Driver stacktrace:
Caused by: org.apache.spark.SparkException:
"""
    assert workers.cause_of(message) == "/opt/python3: No module named spark_daemon"
