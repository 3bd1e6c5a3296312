"""Sends importable packages to the workers of a cluster."""

import importlib.util
import tempfile
import zipfile
from pathlib import Path

from pyspark.sql import SparkSession

from dbt_spark_python import sail

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
    """Whether the workers run on this machine, started by this session, or in this process."""
    return sail.is_sail(spark) or spark.conf.get("spark.master", "").startswith("local")


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
