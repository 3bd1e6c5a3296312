"""The submission method `session`: runs a compiled Python model in the live Spark session."""

import threading
import traceback
from types import CodeType
from typing import Any

from dbt.adapters.base import PythonJobHelper
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

from dbt_spark_python.incremental.earlier import ExtendedTable, add_kept_rows
from dbt_spark_python.incremental.table_formats import FORMATS
from dbt_spark_python.python_model import requirements, write
from dbt_spark_python.python_model.retries import retry_lost_rows
from dbt_spark_python.python_model.ship_packages import ship
from dbt_spark_python.session import connection
from dbt_spark_python.session.error_causes import unread_file
from dbt_spark_python.session.progress import node_progress

_shipping = threading.Lock()


class SessionPythonJob(PythonJobHelper):
    """Runs one Python model; models in several threads share the session."""

    def __init__(self, parsed_model: dict, credential: Any) -> None:
        self.model = parsed_model
        self.credential = credential
        self._relation = f"{parsed_model['schema']}.{parsed_model['alias']}"

    def submit(self, compiled_code: str) -> None:
        """Run the compiled code (the model and dbt's helpers) and write the table.

        Raises:
            DbtRuntimeError: The model failed; the message has the model's own file and line.
        """
        config = self.model["config"]
        path, node = self.model["original_file_path"], self.model["unique_id"]
        requirements.check(config)
        spark = connection.python_session(self.credential)
        packages = config.get("meta", {}).get("ship_packages") or []
        try:
            with _shipping:
                ship(spark, packages)
            with node_progress(spark, node, packages):
                code, target = write.split(compiled_code)
                names = {"spark": spark, "__name__": node}
                exec(compile_model(code, self.model["raw_code"], path), names)

                def make() -> None:
                    result = names["model"](names["dbtObj"](spark.table), spark)
                    if isinstance(result, ExtendedTable):
                        self._write_grown(spark, result, target)
                    else:
                        rows = write.to_frame(spark, result)
                        write.write(add_kept_rows(spark, self._relation, rows), target, config)

                retry_lost_rows(make, self.model["name"])
        except Exception as error:
            damaged = connection.damaged_tables(str(error), compiled_code)
            raise DbtRuntimeError(damaged or explain(error, path, self.model["raw_code"])) from error

    def _write_grown(self, spark: SparkSession, result: ExtendedTable, target: str) -> None:
        """Write only the new rows, beside the files of the earlier table; write all rows if that is impossible."""
        catalog, new = connection.catalog_of(self.credential), write.name_of(target).lower()
        key, config = (self.model["schema"].lower(), self.model["alias"].lower()), self.model["config"]
        if catalog is None and new == key[1] and config.get("file_format") in FORMATS:
            result.added.select(*spark.table(target).columns).write.insertInto(target)
            return
        is_beside = new != key[1] and not target.endswith(write.TEMPORARY)
        adds = catalog is not None and is_beside and catalog.warehouse.can_grow(*key)
        write.write(result.added if adds else result.whole, target, config)
        if adds:
            catalog.warehouse.link_files(key, (key[0], new))


def compile_model(compiled_code: str, raw_code: str, path: str) -> CodeType:
    """Compile so that line numbers match the model's file (dbt puts a few lines before it)."""
    first = max(compiled_code.find(raw_code.strip()), 0)
    leading = raw_code[: len(raw_code) - len(raw_code.lstrip())].count("\n")
    return compile("\n" * leading + compiled_code[first:], path, "exec")


def explain(error: BaseException, path: str, raw_code: str) -> str:
    """Return the error's message, or a plainer one for known causes, and the lines of the model in its traceback."""
    source, message = raw_code.splitlines(), str(error)
    lines = [connection.explain(message) or unread_file(message) or f"{type(error).__name__}: {message}"]
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == path and 0 < (frame.lineno or 0) <= len(source):  # later lines are dbt's own code
            lines.append(f"  {path}:{frame.lineno} in {frame.name}\n    {source[frame.lineno - 1].strip()}")
    if isinstance(error, SyntaxError):
        lines.append(f"  {path}:{error.lineno}")
    return "\n".join(lines)
