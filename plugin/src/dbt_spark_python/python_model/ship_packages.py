"""Sends importable packages to the workers of a cluster."""

import importlib.util
import tempfile
import zipfile
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

from dbt_spark_python.engines import sail
from dbt_spark_python.session.progress import is_connect

#: In a profile's `server_side_parameters`: the file that `dbt_spark_python.pack` made. Spark itself never sees it.
PACKED = "spark.dbt.packed"

# What the file's folder is called where the workers run, which is also where they look for it.
_UNPACKED = "dbt_spark_python_packed"

_ARCHIVES, _PYTHONPATH = "spark.archives", "spark.executorEnv.PYTHONPATH"

_SKIP = {"__pycache__"}


def ship(spark: SparkSession, packages: list[str]) -> None:
    """Make `packages` importable on the workers; once a session, and only where workers are other processes' homes.

    Local sessions share this interpreter's packages (PYSPARK_PYTHON). Elsewhere each package goes as a zip file.

    Raises:
        ModuleNotFoundError: a package that cannot be imported here either.
    """
    if not packages or is_local(spark):
        return
    shipped = spark.__dict__.setdefault("_dbt_spark_python_shipped", set())
    for name in packages:
        if name not in shipped:
            spark.addArtifacts(str(zip_package(name)), pyfile=True)
            shipped.add(name)


def is_local(spark: SparkSession) -> bool:
    """Whether the workers run on this machine, started by this session, or in this process.

    Those of a Spark Connect server are the server's, even if that has no cluster.
    """
    if sail.is_sail(spark):
        return True
    return not is_connect(spark) and is_local_master(spark.conf.get("spark.master", ""))


def send_packed(parameters: dict[str, str]) -> None:
    """Have Spark send what `pack` packed to the workers of a session that is yet to be opened.

    Args:
        parameters: The session's; the file's name in them is replaced by what Spark takes.

    Raises:
        DbtRuntimeError: There is no such file.
    """
    given = parameters.pop(PACKED, "")
    if not given or is_local_master(parameters.get("spark.master", "")):
        return
    if "://" not in given:
        if not Path(given).is_file():
            raise DbtRuntimeError(
                f"{PACKED} in the profile is {given!r}, and there is no such file: "
                f"`python -m dbt_spark_python.pack` makes one"
            )
        given = Path(given).absolute().as_uri()
    added = {_ARCHIVES: (",", f"{given}#{_UNPACKED}"), _PYTHONPATH: (":", _UNPACKED)}
    for name, (separator, value) in added.items():
        parameters[name] = separator.join(filter(None, [value, parameters.get(name)]))


def zip_package(name: str) -> Path:
    """Write one importable package into a zip file, under its own name at the top.

    Raises:
        ModuleNotFoundError: no such package.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"ship_packages names {name!r}, and there is no such package")
    root = Path(next(iter(spec.submodule_search_locations)))
    target = Path(tempfile.mkdtemp(prefix="dbt_spark_python_")) / f"{name}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(root.rglob("*")):
            if file.is_file() and not _SKIP.intersection(file.parts):
                archive.write(file, str(Path(name) / file.relative_to(root)))
    return target


def is_local_master(master: str) -> bool:
    """Whether Spark's driver and workers are one process on this machine, by the address of the master."""
    return master == "local" or master.startswith("local[")  # `local-cluster` has workers of its own
