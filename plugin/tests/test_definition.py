"""The definition of a node: each part changes for one kind of change only."""

import copy
import importlib.metadata
import os
from itertools import pairwise
from types import SimpleNamespace

import pytest

from dbt_spark_python import input_files
from dbt_spark_python.incremental import definition
from dbt_spark_python.incremental.definition import Definitions, changed_parts, digest_package
from dbt_spark_python.input_files import Tail, digest_input, find_tails

SUMS = {
    "unique_id": "model.shop.sums",
    "name": "sums",
    "raw_code": "select {{ var('limit') }}, {{ rounded('total') }} from {{ ref('orders') }}",
    "language": "sql",
    "checksum": {"name": "sha256", "checksum": "abc"},
    "config": {
        "materialized": "table",
        "meta": {"log": "/night/1", "size": 1, "reads": {"paths": ["log"], "variables": ["SHOP_KEY"]}},
    },
    "columns": {"total": {"name": "total", "data_type": "bigint", "description": "The sum.", "constraints": []}},
    "contract": {"enforced": True},
    "depends_on": {"nodes": ["model.shop.orders", "source.shop.outside"], "macros": ["macro.shop.rounded"]},
    "description": "Sums.",
}
ORDERS = {
    "unique_id": "model.shop.orders",
    "name": "orders",
    "raw_code": "select 1",
    "language": "sql",
    "config": {"materialized": "table"},
    "depends_on": {"macros": []},
}


def macro(name: str, sql: str, *calls: str, package: str = "shop") -> SimpleNamespace:
    return SimpleNamespace(
        unique_id=f"macro.{package}.{name}",
        macro_sql=sql,
        package_name=package,
        depends_on=SimpleNamespace(macros=list(calls)),
    )


MACROS = [
    macro("rounded", "{{ round_to(var('digits')) }}", "macro.shop.round_to", "macro.shop.missing", "macro.dbt.ref"),
    macro("round_to", '{{ var( "mode") }}', "macro.shop.rounded"),
    macro("unused", "{{ var('colour') }}"),
    macro("ref", "{{ var('of_dbt') }}", package="dbt"),
]
VARS = {"limit": 1, "digits": 2, "mode": "up", "colour": "red", "of_dbt": 1}


class Project:
    """The inputs of definitions; tests change them."""

    def __init__(self) -> None:
        self.sums, self.orders, self.vars, self.engine = copy.deepcopy(SUMS), copy.deepcopy(ORDERS), dict(VARS), "spark"
        self.macros = {each.unique_id: each for each in MACROS}

    def of(self, node_id: str = "model.shop.sums") -> dict[str, str]:
        """The definition of a node."""
        nodes = {each["unique_id"]: each for each in (self.sums, self.orders)}
        return Definitions(nodes, self.macros, lambda node: self.vars, self.engine).of(node_id)


@pytest.fixture
def project(monkeypatch):
    monkeypatch.delenv("SHOP_KEY", raising=False)
    return Project()


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("code", lambda shop: shop.sums.update(raw_code=shop.sums["raw_code"] + " ")),
        ("code", lambda shop: shop.sums.update(language="python")),
        ("code", lambda shop: shop.sums.update(checksum={"name": "sha256", "checksum": "abd"})),
        ("code", lambda shop: shop.sums.update(test_metadata={"name": "unique"})),
        ("config", lambda shop: shop.sums["config"].update(materialized="view")),
        ("config", lambda shop: shop.sums["config"]["meta"].update(size=2)),
        ("columns", lambda shop: shop.sums["columns"]["total"].update(data_type="int")),
        ("columns", lambda shop: shop.sums["columns"]["total"].update(constraints=[{"type": "not_null"}])),
        ("columns", lambda shop: shop.sums["columns"].update(other={"name": "other"})),
        ("columns", lambda shop: shop.sums.update(contract={"enforced": False})),
        ("columns", lambda shop: shop.sums.update(constraints=[{"type": "primary_key", "columns": ["total"]}])),
        ("vars", lambda shop: shop.vars.update(limit=2)),
        ("vars", lambda shop: shop.vars.update(digits=3)),
        ("vars", lambda shop: shop.vars.update(mode="down")),
        ("vars", lambda shop: shop.vars.pop("mode")),
        ("macros", lambda shop: shop.macros.update({"macro.shop.new": macro("new", "1")})),
        ("macros", lambda shop: shop.macros.update({"macro.shop.unused": macro("unused", "2")})),
        ("environment", lambda shop: os.environ.update(SHOP_KEY="secret")),
        ("packages", lambda shop: shop.sums["config"]["meta"].update(ship_packages=["dbt_spark_python"])),
        ("versions", lambda shop: setattr(shop, "engine", "sail")),
        ("inputs", lambda shop: shop.orders.update(raw_code="select 2")),
    ],
)
def test_a_part_changes_for_its_own_reason(project, part, change, monkeypatch):
    monkeypatch.setenv("SHOP_KEY", "before")
    before = project.of()
    change(project)
    now = project.of()
    # Packages are named in the config, and another engine also changes the definitions of inputs.
    alone = {"packages": {"config", "packages"}, "versions": {"versions", "inputs"}, "macros": {"macros", "inputs"}}
    assert {each for each in before if before[each] != now[each]} == alone.get(part, {part})
    assert changed_parts(before, now) == sorted(alone.get(part, {part}) - ({"inputs"} if part != "inputs" else set()))


@pytest.mark.parametrize(
    "change",
    [
        lambda shop: shop.sums["config"]["meta"].update(log="/night/2"),
        lambda shop: shop.sums["columns"]["total"].update(description="Another text."),
        lambda shop: shop.sums.update(description="Another text."),
        lambda shop: shop.vars.update(colour="blue"),
        lambda shop: shop.vars.update(of_dbt=2),
        lambda shop: shop.macros.update({"macro.dbt.ref": macro("ref", "other", package="dbt")}),
        lambda shop: shop.macros.update({"macro.dbt_spark.x": macro("x", "other", package="dbt_spark")}),
        lambda shop: os.environ.update(SHOP_OTHER="x"),
        lambda shop: shop.sums["depends_on"]["nodes"].reverse(),
        lambda shop: shop.sums["config"].update(tags=["nightly"]),
        lambda shop: shop.sums["config"].update(group="sales", docs={}, access="public"),
    ],
)
def test_what_has_no_effect_on_rows_does_not_count(project, change, monkeypatch):
    monkeypatch.setenv("SHOP_OTHER", "before")
    before = project.of()
    change(project)
    assert project.of() == before
    assert changed_parts(before, project.of()) == []


def test_secrets_and_sources_are_not_in_a_definition(project, monkeypatch):
    assert project.of("source.shop.outside") == {}
    assert project.of("model.shop.orders")["inputs"] != project.of()["inputs"]
    monkeypatch.setenv("SHOP_KEY", "a secret")
    assert "a secret" not in repr(project.of())


def test_versions_of_libraries_count(project, monkeypatch):
    before = project.of()
    monkeypatch.setattr(definition, "versions", lambda: {"pyspark": "0"})
    assert changed_parts(before, project.of()) == ["versions"]
    monkeypatch.undo()
    found = definition.versions()
    assert found["pyspark"] == importlib.metadata.version("pyspark")
    assert found["plugin"] == digest_package("dbt_spark_python")


def test_a_large_seed_is_its_file(project, tmp_path):
    """For a large seed dbt stores a path instead of a checksum."""
    file = tmp_path / "seeds" / "shops.csv"
    project.sums |= {"root_path": str(tmp_path), "original_file_path": "seeds/shops.csv"}
    project.sums["checksum"] = {"name": "path", "checksum": "seeds/shops.csv"}
    seen = [project.of()]
    file.parent.mkdir()
    for text in ("shop\na\n", "shop\nb\n"):
        file.write_text(text)
        seen.append(project.of())
    assert len({each["code"] for each in seen}) == 3
    assert changed_parts(seen[1], seen[2]) == ["code"]


def test_a_log_is_its_names_and_bytes(tmp_path):
    """So are dangling links and pipes, which are rejected; no other log has the same digest."""
    log, pattern = tmp_path / "a.jsonl", str(tmp_path / "*.jsonl")
    log.write_text("one\n")
    seen = [digest_input(pattern, "log")]
    modified = log.stat().st_mtime_ns
    for change in (
        lambda: (log.write_text("two\n"), os.utime(log, ns=(modified, modified + 1))),
        (tmp_path / "b.jsonl").touch,
        lambda: (tmp_path / "b.jsonl").rename(tmp_path / "c.jsonl"),
        lambda: (tmp_path / "d.jsonl").symlink_to("nowhere"),
        lambda: os.mkfifo(tmp_path / "e.jsonl"),
    ):
        change()
        seen.append(digest_input(pattern, "log"))
    assert None not in seen and len(set(seen)) == 6
    assert digest_input("s3a://bucket/log.jsonl", "log") is digest_input("/there/is/none", "log") is None


@pytest.mark.parametrize(
    ("name", "text", "tails"),
    [
        ("a", "one\ntwo\n", [(4, 8, 1), (3, 3, 1), (0, 0, 0)]),
        ("a", "one\n\ntwo", [(4, 8, 1), (3, 3, 1), (0, 0, 0)]),
        ("c", "two", [(4, 4, 1), (3, 3, 1), (0, 3, 0)]),
        ("d", "two", [(4, 4, 1), (3, 3, 1), (0, 0, 0), (0, 3, 0)]),
        ("a", "One\ntwo\n", None),
        ("a", "One\n", None),
        ("a", "one", None),
        ("b", "one\n", None),
    ],
)
def test_a_log_that_grew_at_its_end(tmp_path, name, text, tails):
    """A file without a line feed at its end may be one that is being written: it has to stay. Files are read once."""
    for file, before in (("a", "one\n"), ("b", "one"), ("c", "")):
        (tmp_path / file).write_text(before)
    before = digest_input(str(tmp_path), "log")
    (tmp_path / name).write_text(text)
    alone, now = digest_input(str(tmp_path), "log"), digest_input(str(tmp_path), "log", before)
    assert now == alone
    misses = input_files._read_file.cache_info().misses
    wanted = tails and [Tail(str(tmp_path / file), *tail) for file, tail in zip("abcd", tails, strict=False)]
    assert find_tails(before, now) == wanted
    assert input_files._read_file.cache_info().misses == misses


def test_a_log_that_did_not_grow_at_its_end(tmp_path, monkeypatch):
    """Links and pipes come or go, files go, and the fingerprint of many files lacks their sizes."""
    log, pipe = tmp_path / "a", tmp_path / "pipe"
    for file in (log, tmp_path / "b"):
        file.write_text("one\n")
    seen = [digest_input(str(tmp_path), "log")]
    for change in (lambda: os.mkfifo(pipe), pipe.unlink, log.unlink):
        change()
        seen.append(digest_input(str(tmp_path), "log"))
    assert [find_tails(*each) for each in pairwise(seen)] == [None] * 3
    monkeypatch.setattr("dbt_spark_python.input_files.MOST_NOTED_FILES", 0)
    digest = digest_input(str(tmp_path), "log")
    assert len(digest) == 64
    assert find_tails(seen[-1], digest) is find_tails(digest, seen[-1]) is None


def test_a_package_is_its_files(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "a_package_of_tests" / "__pycache__").mkdir(parents=True)
    source = tmp_path / "a_package_of_tests" / "__init__.py"
    source.write_text("x = 1\n")

    def digest(name: str = "a_package_of_tests") -> str:
        return digest_package.__wrapped__(name)

    first = digest()
    (source.parent / "__pycache__" / "x.pyc").write_text("compiled")
    assert digest() == first
    source.write_text("x = 2\n")
    second = digest()
    source.rename(source.with_name("other.py"))
    (source.parent / "__init__.py").touch()
    assert len({first, second, digest(), digest("there_is_none"), digest("nor_is_there_this")}) == 5
