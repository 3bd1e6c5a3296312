"""The packages of models: the check before the first model, and the packed file for workers."""

import os
import subprocess
import venv
import zipfile
from importlib.metadata import version

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_spark_python import pack
from dbt_spark_python.python_model import requirements, ship_packages
from dbt_spark_python.session import environment


def write_wheel(folder):
    """Write the wheel of a package that is on no index."""
    texts = {
        "carried/__init__.py": "weight = 5\n",
        "carried-1.5.dist-info/METADATA": "Metadata-Version: 2.1\nName: Carried\nVersion: 1.5\n",
        "carried-1.5.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "carried-1.5.dist-info/RECORD"
    with zipfile.ZipFile(folder / "carried-1.5-py3-none-any.whl", "w") as made:
        for name, text in {**texts, record: "".join(f"{name},,\n" for name in [*texts, record])}.items():
            made.writestr(name, text)


def test_packages_that_are_right():
    requirements.check({"packages": ["pyarrow", "pyspark>=3.5,<5", "No.Such_Package; python_version < '3'"]})
    requirements.check({"packages": "dbt-core[x]"})
    requirements.check({})


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
        requirements.check({"packages": ["pyarrow", package]})


def test_packages_are_packed_as_they_are_here(tmp_path, monkeypatch):
    """In this environment's versions, and importable by another Python."""
    write_wheel(tmp_path)
    venv.create(tmp_path / "bare", with_pip=False)
    file = tmp_path / "workers.zip"
    command = [str(file), "carried", "--", "--no-index", "--find-links", str(tmp_path)]
    assert pack.main(command) == 0
    zipfile.ZipFile(file).extractall(tmp_path / "unpacked")
    said = subprocess.run(
        [tmp_path / "bare" / "bin" / "python", "-c", "import carried; print(carried.weight)"],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "unpacked")},
        capture_output=True,
        text=True,
    )
    assert said.stdout == "5\n"

    assert f"pyarrow=={version('pyarrow')}\n" in pack.versions()
    monkeypatch.setattr(pack, "versions", lambda: {"carried==1.4\n"})
    before = file.read_bytes()
    assert pack.main(command) != 0
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
        ("file:/data/w", "-Dderby.system.home=/data/w/.catalog"),
        ("s3a://bucket/w", ""),
        ("/data/w 'n' x", ""),
        ("", ""),
    ],
)
def test_where_derby_goes(place, option):
    assert environment.catalog_option({"spark.sql.warehouse.dir": place}) == option


def test_derby_stays_in_the_current_folder_if_that_has_a_blank(tmp_path, monkeypatch):
    (tmp_path / "a b").mkdir()
    monkeypatch.chdir(tmp_path / "a b")
    assert environment.catalog_option({"spark.sql.warehouse.dir": "tables"}) == ""
