"""The comparisons of `tests.cluster` find a difference, a fault that had no effect, and what a build left."""

import json
import signal
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cluster import nights
from tests.cluster.build import Build, BuildError
from tests.cluster.fault_injection import FAULTS
from tests.cluster.faults import check_end
from tests.cluster.night_reader import check_readings
from tests.cluster.tables import differences, leftovers

ERROR = """
  Runtime Error in model int_tangle_levels (python_models/intermediate/tangles/int_tangle_levels.py)
  Python ran out of memory on a worker (MemoryError): give it more (spark.executor.pyspark.memory, where that is set
"""


def test_a_row_a_table_and_a_folder_too_many_are_found(tmp_path):
    for place, rows in (("one", ["a", "b"]), ("other", ["a"])):
        (tmp_path / place / "tangles.db" / "feeds").mkdir(parents=True)
        pq.write_table(pa.table({"row": rows}), tmp_path / place / "tangles.db" / "feeds" / "rows.parquet")
    one, other = tmp_path / "one", tmp_path / "other"
    assert differences(one, one) == []
    assert differences(one, other)[0] == f"feeds: 1 rows of 2 are only in {one}"
    (one / "tangles.db" / "feeds__next" / "_temporary").mkdir(parents=True)
    assert differences(one, other)[-1].startswith("feeds__next: only in ")
    assert leftovers(one, {"feeds", "a_view"}) == [
        "feeds__next is left over",
        f"{one}/tangles.db/feeds__next/_temporary is left over",
    ]


@pytest.mark.parametrize(("digests", "problems"), [("aabbb", 0), ("aacbb", 1), ("aba", 2), ("aaa", 1)])
def test_a_reader_has_to_see_the_rows_before_a_night_or_after_it(tmp_path, digests, problems):
    readings = [json.dumps([number, "tangles.feeds", digest]) for number, digest in enumerate(digests)]
    (tmp_path / "readings.jsonl").write_text("\n".join(readings))
    assert len(check_readings(tmp_path / "readings.jsonl")) == problems


@pytest.mark.parametrize(("night", "is_too_much"), [(24.9, False), (25.1, True)])
def test_a_night_on_a_cluster_costs_no_larger_share(tmp_path, night, is_too_much):
    figures = {"machine": (60, 20, 10), "cluster": (70, night, 10)}  # 10 of 50 CPU s, and 14.9 or 15.1 of 60
    for name, cpu in figures.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "figures.json").write_text(json.dumps(dict(zip(nights.NIGHTS, cpu, strict=True))))
    assert bool(nights.compare_shares(tmp_path)) == is_too_much


@pytest.mark.parametrize(
    ("fault", "code", "said", "is_right"),
    [
        ("executor", 0, "", True),
        ("executor", 1, ERROR, False),
        ("memory", 1, ERROR, True),
        ("memory", 0, "", False),
        ("memory", 1, ERROR.replace("int_tangle_levels (", "int_tangle_causes ("), False),
        ("driver", -signal.SIGKILL, "", True),
        ("driver", 0, "", False),
        ("checkpoint", 0, FAULTS["checkpoint"].says, True),
        ("checkpoint", 0, "another line", False),
    ],
)
def test_a_build_with_a_fault_ends_as_expected(tmp_path, fault, code, said, is_right):
    build = Build.__new__(Build)
    build.name, build.output, build.process = "struck", tmp_path / "output.txt", SimpleNamespace(returncode=code)
    build.output.write_text(said)
    if is_right:
        check_end(FAULTS[fault], build, ["int_tangle_levels"])
    else:
        with pytest.raises(BuildError, match="struck: dbt ended unexpectedly"):
            check_end(FAULTS[fault], build, ["int_tangle_levels"])
