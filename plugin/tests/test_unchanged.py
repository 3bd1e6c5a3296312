"""What decides that a table need not be made again, without Spark: nothing but digests, and doubt is a no."""

import os

import pytest

from dbt_spark_python import unchanged
from dbt_spark_python.unchanged import (
    digest_log,
    digest_package,
    digest_recipe,
    digest_way,
    has_passed,
    made_of_passed,
    note_passed,
)
from dbt_spark_python.warehouse import Warehouse


@pytest.fixture
def warehouse(folders):
    return folders


def publish(
    warehouse: Warehouse, name: str, text: str, run: str = "run", recipe: str | None = None, way: str | None = None
) -> None:
    """Publish a table whose one file holds this text, under a new name as Spark's files have."""
    place = warehouse.private_place("s", name)
    place.mkdir(parents=True)
    (place / f"part-{os.urandom(8).hex()}.parquet").write_text(text)
    warehouse.publish("s", name, run, recipe, way)


def test_content_is_bytes_and_partitions_whatever_files_are_called(warehouse):
    publish(warehouse, "one", "rows")
    publish(warehouse, "two", "rows")
    publish(warehouse, "three", "other rows")
    one, two, three = (warehouse.content_of("s", name) for name in ("one", "two", "three"))
    assert one == two != three
    place = warehouse.private_place("S".lower(), "four") / "part=1"
    place.mkdir(parents=True)
    (place / "part-0.parquet").write_text("rows")
    warehouse.publish("s", "four", "run")
    assert warehouse.content_of("s", "four") not in (one, three)


def test_a_table_that_comes_out_the_same_has_not_changed(warehouse):
    publish(warehouse, "t", "rows", "first", "recipe")
    publish(warehouse, "t", "rows", "second", "another recipe")
    (table,) = warehouse.published("s")
    assert (table.run_id, table.changed_in, table.recipe) == ("second", "first", "another recipe")
    publish(warehouse, "t", "other rows", "third")
    (table,) = warehouse.published("s")
    assert (table.run_id, table.changed_in, table.recipe) == ("third", "third", None)


def test_a_table_that_is_kept_is_of_the_run_that_kept_it(warehouse):
    publish(warehouse, "t", "rows", "first", "recipe")
    (before,) = warehouse.published("s")
    warehouse.keep("s", "t", "second")
    (table,) = warehouse.published("s")
    assert (table.run_id, table.changed_in, table.built_at) == ("second", "first", before.built_at)
    assert warehouse.recipe_of("s", "t") == "recipe"


@pytest.mark.parametrize("what", ["more", "less", "touched", "gone", "no stamp", "half a stamp"])
def test_a_table_changed_from_outside_is_not_trusted(warehouse, what):
    publish(warehouse, "t", "rows", recipe="recipe")
    assert warehouse.recipe_of("s", "t") == "recipe"
    folder = warehouse.public_place("s", "t")
    (file,) = folder.glob("*.parquet")
    if what == "more":
        (folder / "part-1.parquet").write_text("rows")
    elif what == "less":
        file.unlink()
    elif what == "touched":
        file.write_text("ROWS")
        os.utime(file, ns=(0, 0))
    elif what == "gone":
        folder.rename(folder.with_name("elsewhere"))
    elif what == "no stamp":
        (folder / "_table.json").unlink()
    else:
        (folder / "_table.json").write_text('{"recipe": "rec')
    assert warehouse.recipe_of("s", "t") is None
    assert warehouse.content_of("s", "t") is None


def test_the_recipe_has_all_that_decides(warehouse, tmp_path, monkeypatch):
    log = tmp_path / "log.jsonl"
    log.write_text("one\n")
    publish(warehouse, "t", "rows")
    publish(warehouse, "u", "other rows")

    def digest(recipe="code", inputs=(("s", "t"),), **reads):
        return digest_recipe(warehouse, recipe, inputs, {"files": {"log": str(log)}, "variables": ["KEY"], **reads})

    monkeypatch.delenv("KEY", raising=False)
    first = digest()
    assert first == digest()
    differing = [first, digest("other code"), digest(inputs=[("s", "u")]), digest(packages=["dbt_spark_python"])]
    monkeypatch.setenv("KEY", "secret")
    differing.append(digest())
    monkeypatch.delenv("KEY")
    log.write_text("one\ntwo\n")
    differing.append(digest())
    publish(warehouse, "t", "new rows")
    differing.append(digest())
    monkeypatch.setattr(unchanged, "_versions", lambda: {"pyspark": "0"})
    differing.append(digest())
    assert len(set(differing)) == len(differing)
    assert None not in differing
    assert "secret" not in "".join(differing)


def test_the_way_has_all_but_what_a_table_is_made_of(tmp_path, monkeypatch):
    log = tmp_path / "log.jsonl"
    log.write_text("one\n")

    def digest(way="code", **reads):
        return digest_way(way, {"files": {"log": str(log)}, "variables": ["KEY"], **reads})

    monkeypatch.delenv("KEY", raising=False)
    first = digest()
    log.write_text("one\ntwo\n")
    assert first == digest() == digest(files={})
    differing = [first, digest("other code"), digest(packages=["dbt_spark_python"])]
    monkeypatch.setenv("KEY", "secret")
    differing.append(digest())
    monkeypatch.setattr(unchanged, "_versions", lambda: {"pyspark": "0"})
    differing.append(digest())
    assert len(set(differing)) == len(differing)


def test_the_way_is_that_of_the_files(warehouse):
    publish(warehouse, "t", "rows", way="way")
    warehouse.keep("s", "t", "second")
    assert warehouse.way_of("S", "T") == "way"
    assert warehouse.way_of("s", "another") is None
    (file,) = warehouse.public_place("s", "t").glob("*.parquet")
    file.write_text("other rows")
    assert warehouse.way_of("s", "t") is None


def test_what_cannot_be_known_is_no_recipe(warehouse):
    assert digest_recipe(warehouse, "code", [("s", "missing")], {}) is None
    assert digest_recipe(warehouse, "code", [], {"files": {"log": "s3a://bucket/log.jsonl"}}) is None
    assert digest_recipe(warehouse, "code", [], {"files": {"log": "/there/is/none"}}) is None
    assert digest_recipe(warehouse, "code", [], {"files": {"log": ""}}) is not None


def test_a_log_is_its_names_and_bytes(tmp_path):
    (tmp_path / "a.jsonl").write_text("one\n")
    pattern = str(tmp_path / "*.jsonl")
    first = digest_log(pattern, "log")
    stat = (tmp_path / "a.jsonl").stat()
    (tmp_path / "a.jsonl").write_text("two\n")
    os.utime(tmp_path / "a.jsonl", ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    second = digest_log(pattern, "log")
    (tmp_path / "b.jsonl").touch()
    third = digest_log(pattern, "log")
    (tmp_path / "b.jsonl").rename(tmp_path / "c.jsonl")
    assert len({first, second, third, digest_log(pattern, "log")}) == 4


def test_a_package_is_its_files(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "a_package_of_tests").mkdir()
    source = tmp_path / "a_package_of_tests" / "__init__.py"
    source.write_text("x = 1\n")
    first = digest_package.__wrapped__("a_package_of_tests")
    source.write_text("x = 2\n")
    assert first != digest_package.__wrapped__("a_package_of_tests")
    assert digest_package.__wrapped__("there_is_none") != first


def test_a_test_that_passed_is_known_by_its_recipe(warehouse):
    assert not has_passed(warehouse, "s", "test.a", "recipe")
    note_passed(warehouse, "S", "test.a", "recipe")
    assert has_passed(warehouse, "s", "test.a", "recipe")
    assert not has_passed(warehouse, "s", "test.a", "another recipe")
    assert not has_passed(warehouse, "s", "test.b", "recipe")
    assert warehouse.published("s") == []


def test_the_same_rows_in_other_files_are_no_change(warehouse):
    """The files that are there stay, and are said to be made of what would have made the others."""
    asked = []

    def write(text: str) -> None:
        place = warehouse.private_place("s", "t")
        place.mkdir(parents=True)
        (place / "part-0.parquet").write_text(text)

    def publish_again(text: str, way: str, run: str, is_same: bool):
        def is_same_as(origin: str, content: str) -> bool:
            asked.append((origin, content))
            return is_same

        write(text)
        return warehouse.publish("s", "t", run, f"recipe {run}", way, made_of={"s.u": run}, is_same_as=is_same_as)

    publish(warehouse, "t", "rows", "first", "recipe first", "way")
    content = warehouse.content_of("s", "t")
    table = publish_again("rows in another order", "way", "second", True)
    assert (table.run_id, table.changed_in, table.recipe) == ("second", "first", "recipe second")
    assert warehouse.content_of("s", "t") == content == asked[0][0] != asked[0][1]
    assert (warehouse.public_place("s", "t") / "part-0.parquet").exists() is False
    assert warehouse.made_of("s", "t") == {"s.u": "second"}
    assert not warehouse.private_place("s", "t").exists()

    # Other rows; then another way, and files that somebody else has changed: nobody is asked.
    assert publish_again("other rows", "way", "third", False).changed_in == "third"
    assert publish_again("rows", "another way", "fourth", True).changed_in == "fourth"
    (warehouse.public_place("s", "t") / "part-0.parquet").write_text("a hand")
    assert publish_again("other rows", "another way", "fifth", True).changed_in == "fifth"
    assert len(asked) == 2


def test_what_a_test_looked_at(warehouse):
    assert made_of_passed(warehouse, "s", "test.x", "way") is None
    note_passed(warehouse, "s", "test.x", "recipe", "way", {"s.t": "content"})
    assert made_of_passed(warehouse, "s", "test.x", "way") == {"s.t": "content"}
    assert made_of_passed(warehouse, "s", "test.x", "another way") is None
    assert has_passed(warehouse, "s", "test.x", "recipe")
