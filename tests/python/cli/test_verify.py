"""`tangles status --verify`: bytes of tables compared with the published digests."""

import json
import os
import shlex

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cli_story as story
from cli_kit import assert_harmless, tangles
from dbt_spark_python.table_store import manifest
from dbt_spark_python.table_store.warehouse import Warehouse
from log_files import flip_bit


@pytest.fixture
def built(tmp_path):
    """A warehouse with the tables `feeds` and `tangles`, each of two files, as builds publish them."""
    warehouse = Warehouse(tmp_path / "wh")
    for name in ("feeds", "tangles"):
        place = warehouse.private_place("tangles", name)
        place.mkdir(parents=True)
        for number in range(2):
            rows = pa.table({"author": [f"{name} {number} {row}" for row in range(1000)]})
            pq.write_table(rows, place / f"part-{number}.parquet", compression="none", use_dictionary=False)
        warehouse.publish("tangles", name, "run")
    warehouse.close()
    return tmp_path / "wh"


def ask(warehouse):
    command = ["status", "--verify", "--warehouse", str(warehouse)]
    text, data = tangles(*command), tangles(*command, "--json")
    assert text.exit_code == data.exit_code
    assert_harmless(text)
    return json.loads(data.stdout)["verified"], data.exit_code, text.stdout


def test_tables_as_they_were_published(built):
    size = sum(path.stat().st_size for path in built.rglob("*.parquet"))
    found, code, text = ask(built)
    assert code == 0
    assert found == {"tables": 2, "files": 4, "bytes": size, "damaged": [], "unknown": []}
    assert f"2 tables, 4 files, {size:,} bytes: no table is damaged" in text


def test_a_flipped_bit_is_found(built):
    path = built / "tangles.db" / "feeds" / "part-1.parquet"
    flip_bit(path)
    assert pq.read_table(path).num_rows == 1000, "readers of the table do not notice the fault"
    found, code, text = ask(built)
    assert code == 1
    fault = "has changed since it was published"
    assert found["damaged"] == [{"table": "feeds", "file": str(path), "fault": fault}]
    assert f"  feeds: {path} {fault}" in text.splitlines()
    command = shlex.split(text.splitlines()[-1])
    assert command == ["dbt", "build", "--full-refresh", "--select", "feeds+"]


def test_other_damage(built):
    feeds, tangles = (built / "tangles.db" / name for name in ("feeds", "tangles"))
    os.truncate(feeds / "part-0.parquet", 100)
    os.mkfifo(feeds / "part-2.parquet")
    (tangles / "part-0.parquet").unlink()
    found, code, text = ask(built)
    assert code == 1
    faults = {row["file"].rpartition("/")[2]: row["fault"] for row in found["damaged"] if row["table"] == "feeds"}
    assert faults.keys() == {"part-0.parquet", "part-2.parquet"}
    assert faults["part-0.parquet"].startswith("is not a parquet file (100 bytes): ")
    assert faults["part-2.parquet"] == "is a pipe, not a file"
    (missing,) = (row for row in found["damaged"] if row["table"] == "tangles")
    assert missing["file"].endswith("/tangles/part-0.parquet") and missing["fault"] == "is missing"
    assert "--select feeds+ tangles+" in text


def test_a_manifest_that_says_something_else(built):
    for name, text in (("feeds", "[" * 100_000), ("tangles", '{"files": "x"}')):
        manifest.path_of(built / "tangles.db" / name).write_text(text)
    found, code, text = ask(built)
    assert (code, found["damaged"], found["unknown"]) == (0, [], ["feeds", "tangles"])
    assert "not verified, because their manifests have no digests: feeds, tangles" in text


def test_other_commands_name_the_damaged_table(tmp_path):
    """A pipe in place of a file does not block."""
    warehouse = story.write(tmp_path / "wh")
    os.truncate(warehouse.folder / "feeds" / "part-0.parquet", 50)
    result = warehouse.ask("status")
    assert result.exit_code == 2 and "feeds/part-0.parquet" in result.stderr
    assert f"`tangles status --verify --warehouse {warehouse.root}` lists damaged files" in result.stderr
    os.mkfifo(warehouse.folder / "feeds" / "part-2.parquet")
    result = warehouse.ask("status")
    assert result.exit_code == 2 and "feeds/part-2.parquet: not a regular file" in result.stderr
