"""An unfinished write of a killed process does not block the next one; other folders stay."""

import pytest

from dbt_process import run_python

pytestmark = pytest.mark.spark

MAKE = """
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from dbt_spark_python.python_model import write
from dbt_spark_python.session import environment, handle

environment.prepare()
place = Path(sys.argv[1])
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.sql.warehouse.dir", str(place))
    .config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)
spark.sql("create schema made")
for name, within in (("by_sql", "_temporary"), ("by_python", "_temporary"), ("of_others", "rows")):
    (place / "made.db" / name / within / "0").mkdir(parents=True)
    (place / "made.db" / name / "part-0.parquet").write_bytes(b"half of a file")
cursor = handle.SessionCursor(spark)
cursor.execute("create table made.by_sql using parquet as select 1 as number")
write.write(spark.sql("select 2 as number"), "made.by_python", {"file_format": "parquet"})
print([spark.table(f"made.{name}").collect()[0].number for name in ("by_sql", "by_python")])
try:
    cursor.execute("create table made.of_others using parquet as select 3 as number")
except Exception as error:
    print(error)
print((place / "made.db" / "of_others" / "part-0.parquet").read_bytes())
"""


def test_an_unfinished_write_is_removed(tmp_path):
    done = run_python(MAKE, tmp_path / "warehouse", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    numbers, *error, kept = done.stdout.strip().splitlines()
    assert numbers == "[1, 2]"
    assert "LOCATION_ALREADY_EXISTS" in " ".join(error)
    assert f"{tmp_path}/warehouse/made.db/of_others' already exists" in " ".join(error)
    assert kept == "b'half of a file'"
