"""Python models on an embedded session: dbt's promises, returned types, errors, threads, interpreters."""

import shutil
import sys
from pathlib import Path

import pytest

from dbt_spark_python.fences import known_session
from dbt_spark_python.python_model import submit
from dbt_spark_python.table_store.catalog import FolderCatalog
from dbt_spark_python.table_store.warehouse import Warehouse
from plugin_projects import make_project, python_model

pytestmark = pytest.mark.both

ROWS = '{"id": [1, 2], "name": ["a", None], "none": [None, None]}'
MODELS = {
    "numbers.sql": "{{ config(materialized='table') }} select id from range(10)",
    "from_ref.py": python_model(
        "dbt.config(materialized='table', answer=42)",
        "answer = dbt.config.get('answer')",
        """return dbt.ref("numbers").selectExpr("id", f"{answer} as answer", f"'{dbt.this.identifier}' as name")""",
    ),
    "from_source.py": python_model("return dbt.source('outside', 'numbers')"),
    "interpreter.py": """
        import sys

        import pyarrow as pa


        def look(batches):
            for batch in batches:
                yield pa.RecordBatch.from_pydict({"python": [sys.executable]})


        def model(dbt, spark):
            return spark.range(1).repartition(1).mapInArrow(look, "python string")
    """,
    "from_pandas.py": python_model("import pandas as pd", f"return pd.DataFrame({ROWS})"),
    "from_no_rows.py": python_model(
        "import pandas as pd",
        'return pd.DataFrame({"id": pd.Series([], dtype="int64"), "name": pd.Series([], dtype="object")})',
    ),
    "from_arrow.py": python_model("import pyarrow as pa", f"return pa.table({ROWS})"),
    "from_a_stream.py": f"""
        import pyarrow as pa


        class Frame:
            # as a DataFrame of polars is one
            def __arrow_c_stream__(self, requested_schema=None):
                return pa.table({ROWS}).__arrow_c_stream__(requested_schema)


        def model(dbt, spark):
            return Frame()
    """,
}
SPARK_MODELS = {
    "job_group.py": python_model(
        'group = spark.sparkContext.getLocalProperty("spark.jobGroup.id")',
        'return spark.createDataFrame([(group,)], "job_group string")',
    ),
    "from_pandas_on_spark.py": python_model("import pyspark.pandas as ps", 'return ps.DataFrame({"id": [1, 2]})'),
    "packed.py": python_model(
        """dbt.config(options={"compression": "gzip"}, partition_by="part", tblproperties={"it's": "mine"})""",
        'return spark.range(4).selectExpr("id", "id % 2 as part")',
    ),
}

NO_SPACE = "no space is left at PLACE: free some and run again; all published tables are intact"
BROKEN = {  # the body of a model, and what its error says
    "driver.py": ("return {}['boom']", ["KeyError: 'boom'", "models/driver.py:7 in model", "return {}['boom']"]),
    "worker.py": (
        "return spark.range(3).mapInArrow(fail, 'id bigint')",
        ["ZeroDivisionError", 'models/worker.py", line 2, in fail'],
    ),
    "type.py": ("return 7", ["not a supported type"]),
    "full.py": ("raise OSError(28, 'No space left on device')", [NO_SPACE]),
    "full_in_sql.sql": ("select raise_error(concat('No space', ' left on device')) as n", [NO_SPACE]),
    "needy.py": ("dbt.config(packages=['no-such-package'])", ["no-such-package (not installed)"]),
    "sent.py": (
        "dbt.config(submission_method='job_cluster')",
        ["job_cluster_config is required for commands submission"],
    ),
    "lost.py": ("dbt.config(submission_method='pigeon')", ["Submission method pigeon is not supported"]),
}


@pytest.fixture(scope="module")
def built(project, tmp_path_factory):
    """The small project, built once; it does not set the submission method."""
    folder = tmp_path_factory.mktemp("plugin")
    built = project("plugin", make_project(folder / "p", MODELS))
    assert built.invoke("run", "--select", "numbers").success  # starts the session
    spark = known_session.find_session()
    spark.sql("create schema if not exists plugin_outside")
    spark.range(5, 6).write.mode("overwrite").parquet(str(folder / "outside"))
    spark.sql("drop table if exists plugin_outside.numbers")
    spark.sql(f"create table plugin_outside.numbers using parquet location '{folder / 'outside'}'")
    return built.build("--threads", "4")


def test_ref_config_and_this(built):
    rows = built.rows("from_ref")
    assert sorted(row["id"] for row in rows) == list(range(10))
    assert {(row["answer"], row["name"]) for row in rows} == {(42, "from_ref")}


def test_source_and_interpreter(built):
    assert built.rows("from_source") == [{"id": 5}]
    assert built.rows("interpreter") == [{"python": sys.executable}]


@pytest.mark.parametrize("name", ["from_pandas", "from_arrow", "from_a_stream"])
def test_models_return_frames_and_tables(built, name):
    rows = sorted(built.rows(name), key=lambda row: row["id"])
    assert rows == [{"id": 1, "name": "a", "none": None}, {"id": 2, "name": None, "none": None}]


def test_a_table_without_rows(built):
    assert built.rows("from_no_rows") == []
    assert built.asked("select count(id), count(name) from plugin.from_no_rows") == [(0, 0)]


@pytest.mark.spark
def test_spark_only_features(project, tmp_path):
    built = project("of_spark", make_project(tmp_path / "p", SPARK_MODELS)).build()
    assert built.rows("job_group") == [{"job_group": "model.plugin.job_group"}]
    assert sorted(row["id"] for row in built.rows("from_pandas_on_spark")) == [1, 2]
    files = [path.relative_to(built.warehouse).as_posix() for path in built.warehouse.rglob("*.gz.parquet")]
    assert {file.rpartition("/")[0] for file in files} == {f"of_spark.db/packed/part={part}" for part in (0, 1)}


PARTED_MODELS = {
    "parted.py": python_model(
        "dbt.config(partition_by=['day', 'part'])",
        """return spark.range(4).selectExpr("id", "date'2026-11-23' as day", "id % 2 as part")""",
    ),
    "parted_sql.sql": """
        {{ config(materialized='table', partition_by='part') }}
        select id, cast(id % 2 as smallint) as part from {{ ref('parted') }}
    """,
}


def test_partitions(project, tmp_path):
    """In separate folders; a later session finds the columns and types that were written."""
    built = project("parted", make_project(tmp_path / "p", PARTED_MODELS)).build()
    made = built.warehouse / "parted.db"
    assert {path.parent.relative_to(made).as_posix() for path in made.rglob("*.parquet")} == {
        *(f"parted/day=2026-11-23/part={part}" for part in (0, 1)),
        *(f"parted_sql/part={part}" for part in (0, 1)),
    }
    expected = [(id, "2026-11-23", id % 2) for id in range(4)]
    assert sorted(built.asked("select id, cast(day as string), part from parted.parted")) == expected
    shutil.copytree(made, tmp_path / "later" / "parted_later.db")  # a schema that the session does not know
    later = FolderCatalog(known_session.find_session(), Warehouse(tmp_path / "later"))
    later.refresh()
    assert sorted(built.asked("select id, cast(day as string), part from parted_later.parted")) == expected
    for name, types in (("parted", ["bigint", "date", "bigint"]), ("parted_sql", ["bigint", "smallint"])):
        assert [kind for _, kind in later.spark.table(f"parted_later.{name}").dtypes] == types
    assert built.build().rows("parted_sql")


def test_errors_show_the_models_file_and_line(project, tmp_path):
    """Or a remedy in one line, for example after a full disk; other models are built."""
    fail = "def fail(batches):\n    1 / 0\n    yield\n\n\n"
    models = {
        name: python_model(body, "return spark.range(1)", above=fail) if name.endswith("py") else body
        for name, (body, _) in BROKEN.items()
    }
    models["here.py"] = python_model("dbt.config(submission_method='session')", "return spark.range(1)")
    models["full_in_sql.yml"] = "models: [{name: full_in_sql, config: {materialized: table}}]"
    built = project("broken", make_project(tmp_path / "p", models))
    said = built.failures("run")
    assert said.keys() == {Path(name).stem for name in BROKEN}
    for name, (_, parts) in BROKEN.items():
        for part in parts:
            assert part.replace("PLACE", str(built.warehouse)) in said[Path(name).stem]
    assert "Traceback" not in said["full"]
    assert len(said["full_in_sql"].strip().splitlines()) <= 2
    assert built.rows("here") == [{"id": 0}]


def test_packages_named_in_meta_are_shipped(project, tmp_path, monkeypatch):
    shipped = []
    monkeypatch.setattr(submit, "ship", lambda spark, packages: shipped.append(packages))
    named = python_model("dbt.config(meta={'ship_packages': ['numpy']})", "return spark.range(1)")
    project("shipped", make_project(tmp_path / "p", {"named.py": named})).build()
    assert shipped == [["numpy"]]
