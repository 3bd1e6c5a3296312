"""Sends importable packages to the workers of a cluster."""

import importlib.util
import tempfile
import zipfile
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

_ARCHIVES, _PYTHONPATH = "spark.archives", "spark.executorEnv.PYTHONPATH"

_SKIP = {"__pycache__"}


def ship(spark: SparkSession, packages: list[str]) -> None:
    """Make `packages` importable on the workers, once per session.

    Workers of local sessions use this interpreter's packages (PYSPARK_PYTHON). Other workers get each package as a zip
    file.

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


def send_packed(parameters: dict[str, str]) -> None:
    """Set the parameters by which Spark sends the packed file to the workers of a session that opens later.

    Args:
        parameters: The session's parameters; the file's name is replaced by Spark's own settings.

    Raises:
        DbtRuntimeError: The file does not exist.
    """
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
    added = {_ARCHIVES: (",", f"{given}#{_UNPACKED}"), _PYTHONPATH: (":", _UNPACKED)}
    for name, (separator, value) in added.items():
        parameters[name] = separator.join(filter(None, [value, parameters.get(name)]))


def zip_package(name: str) -> Path:
    """Write one importable package into a zip file, with its name as the top folder.

    Raises:
        ModuleNotFoundError: The package is not installed.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            f"ship_packages names {name!r}, which is not installed: install it with pip, or remove the name"
        )
    root = Path(next(iter(spec.submodule_search_locations)))
    target = Path(tempfile.mkdtemp(prefix="dbt_spark_python_")) / f"{name}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(root.rglob("*")):
            if file.is_file() and not _SKIP.intersection(file.parts):
                archive.write(file, str(Path(name) / file.relative_to(root)))
    return target


def is_local_master(master: str) -> bool:
    """Whether a master's address means that Spark's driver and workers are one process on this machine."""
    return master == "local" or master.startswith("local[")  # `local-cluster` starts separate workers
