"""Sends importable packages to the workers of a cluster."""

import importlib.util
import shutil
import tempfile
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

from dbt_spark_python.engines import sail
from dbt_spark_python.session.progress import is_connect

#: In a profile's `server_side_parameters`: the file written by `dbt_spark_python.pack`. The key is removed before Spark
#: sees it.
PACKED = "spark.dbt.packed"

# The folder of the unpacked file on the workers, which is also on their module path.
_UNPACKED = "dbt_spark_python_packed"


def ship(spark: SparkSession, packages: list[str]) -> None:
    """Make `packages` importable on the workers, once per session: each goes there as a zip file.

    Workers of local sessions use this interpreter's packages (PYSPARK_PYTHON).

    Raises:
        ModuleNotFoundError: A package cannot be imported here either.
    """
    if not packages or is_local(spark):
        return
    shipped = spark.__dict__.setdefault("_dbt_spark_python_shipped", set())
    for name in packages:
        if name not in shipped:
            spark.addArtifacts(str(zip_package(name)), pyfile=True)
            shipped.add(name)


def is_local(spark: SparkSession) -> bool:
    """Whether the workers run on this machine, in this process or started by its session.

    The workers of a Spark Connect server belong to the server, even without a cluster.
    """
    if sail.is_sail(spark):
        return True
    return not is_connect(spark) and is_local_master(spark.conf.get("spark.master", ""))


def is_local_master(master: str) -> bool:
    """Whether a master's address means that Spark's driver and workers are one process on this machine."""
    return master == "local" or master.startswith("local[")  # `local-cluster` starts separate workers


def send_packed(parameters: dict[str, str]) -> None:
    """Replace the packed file in a session's parameters by the settings with which Spark sends it to the workers."""
    given = parameters.pop(PACKED, "")
    if not given or is_local_master(parameters.get("spark.master", "")):
        return
    if "://" not in given:
        if not Path(given).is_file():
            raise DbtRuntimeError(
                f"{PACKED} in the profile is {given!r}, which does not exist: "
                "make it with `python -m dbt_spark_python.pack`"
            )
        given = Path(given).absolute().as_uri()
    archives, path = parameters.get("spark.archives"), parameters.get("spark.executorEnv.PYTHONPATH")
    parameters["spark.archives"] = ",".join(filter(None, [f"{given}#{_UNPACKED}", archives]))
    parameters["spark.executorEnv.PYTHONPATH"] = ":".join(filter(None, [_UNPACKED, path]))


def zip_package(name: str) -> Path:
    """Write one importable package into a zip file, with its name as the top folder."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            f"ship_packages names {name!r}, which is not installed: install it with pip, or remove the name"
        )
    folder = Path(tempfile.mkdtemp(prefix="dbt_spark_python_"))
    root = next(iter(spec.submodule_search_locations))
    shutil.copytree(root, folder / "packed" / name, ignore=shutil.ignore_patterns("__pycache__"))
    return Path(shutil.make_archive(str(folder / name), "zip", folder / "packed"))
