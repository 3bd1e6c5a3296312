"""The manifest of a table, without an engine: content, origin, counts, and cases in which it is not trusted."""

import os
from itertools import count
from types import SimpleNamespace

import pytest

from conftest import publish_files
from dbt_spark_python.incremental import adapter_methods
from dbt_spark_python.table_store import manifest
from dbt_spark_python.table_store.public_folders import Publication

# With an entry that only a later version knows.
GROUPS = {"history": "h 0", "since": 1, "upto": 2, "later": "key"}
ORIGIN = Publication({"code": "1"}, {"model.shop.orders": "1"}, GROUPS)


def publish(folders, text: str, run: str = "run", publication: Publication | None = ORIGIN, **options):
    file = f"part-{os.urandom(8).hex()}.parquet"
    return publish_files(folders, {file: text}, run, publication=publication, **options)


def origin_of(folders) -> dict:
    noted = folders.trusted_manifest("s", "t")
    return {key: noted[key] for key in ("definition", "inputs", "groups")} if noted else {}


def test_content_covers_bytes_and_partitions_but_not_file_names(folders):
    tables = {
        "one": {"a.parquet": "rows", "b.parquet": "more"},
        "two": {"c.parquet": "more", "d.parquet": "rows"},
        "fewer": {"a.parquet": "rows"},
        "other": {"a.parquet": "other rows", "b.parquet": "more"},
        "parts": {"part=1/a.parquet": "rows", "part=1/b.parquet": "more"},
    }
    for name, files in tables.items():
        publish_files(folders, files, name=name)
    found = {name: folders.trusted_manifest("S", name)["content"] for name in tables}
    assert found["one"] == found["two"]
    assert len(set(found.values())) == 4


def test_a_table_that_comes_out_the_same_has_not_changed(folders):
    """It keeps its counts, too. Rows are counted if files differ; the same rows may be in other files."""
    asked, other = [], ORIGIN._replace(definition={"code": "2"})
    none, one, two = ({"rows_added": added, "rows_removed": 0} for added in range(3))
    for text, run, origin, counted, changed_in, changes in (
        ("rows", "first", ORIGIN, one, "first", one),
        ("rows", "second", other, two, "first", one),
        ("swor", "third", None, none, "first", one),
        ("more", "fourth", other, two, "fourth", two),
        ("less", "fifth", other, None, "fifth", None),
    ):
        publish(folders, text, run, origin, count=lambda run=run, counted=counted: asked.append(run) or counted)
        (table,) = folders.published("s")
        assert (table.run_id, table.changed_in, table.changes) == (run, changed_in, changes)
        assert origin_of(folders) == (origin or Publication()).origin()
    assert asked == ["first", "third", "fourth", "fifth"]
    publish(folders, "fifth rows", "sixth")
    (table,) = folders.published("s")
    assert (table.changed_in, table.changes) == ("sixth", None)


def test_a_reused_table_has_the_run_that_reused_it(folders):
    before = publish(folders, "rows", "first", count=lambda: {"rows_added": 1})
    later = ORIGIN._replace(groups={"history": "h 0", "since": 1, "upto": 3})
    folders.record_reuse("s", "t", "second", later)
    (table,) = folders.published("s")
    assert (table.run_id, table.changed_in, table.built_at) == ("second", "first", before.built_at)
    assert table.changes == {"rows_added": 1}
    assert origin_of(folders) == later.origin()
    assert [file.name.endswith(".parquet") for file in table.folder.iterdir()].count(True) == 1


CHANGES = {
    "a file is added": lambda folder, file: (folder / "part-1.parquet").write_text("rows"),
    "a file is removed": lambda folder, file: file.unlink(),
    "a file is rewritten": lambda folder, file: file.write_text("ROWS and rows"),
    "a file's time is changed": lambda folder, file: os.utime(file, ns=(0, 0)),
    "the folder is moved": lambda folder, file: folder.rename(folder.with_name("elsewhere")),
    "the manifest is removed": lambda folder, file: manifest.path_of(folder).unlink(),
    "the manifest is cut": lambda folder, file: manifest.path_of(folder).write_text('{"definition": "'),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_table_changed_from_outside_is_not_trusted(folders, change):
    publish(folders, "rows")
    assert folders.trusted_manifest("S", "T")["content"]
    folder = folders.public_place("s", "t")
    (file,) = folder.glob("*.parquet")
    change(folder, file)
    assert folders.trusted_manifest("s", "t") == {}


def test_a_table_of_delta_lake_has_a_log_of_its_own(folders):
    publish_files(folders, {"a.parquet": "rows", "_delta_log/0.json": "{}"}, publication=ORIGIN)
    assert folders.trusted_manifest("s", "t") == {}


def test_histories_of_versions(monkeypatch):
    """A history continues while the first version stays; an empty table begins another one, with other numbers."""
    runs = (f"run-{number}" for number in count())
    monkeypatch.setattr(adapter_methods, "get_invocation_id", lambda: next(runs))

    def note(history: str, first: int | None, last: int | None) -> tuple:
        building = {("s", "t"): Publication(groups={"history": history, "since": 0, "upto": 0})}
        relation = SimpleNamespace(schema="S", identifier="T")
        adapter_methods.PlannedRuns.record_versions(SimpleNamespace(_building=building), relation, first, last)
        groups = building["s", "t"].groups
        assert groups["since"] == 0
        return groups["history"], groups["upto"]

    assert note("", 1, 1) == ("run-0 1", 1)
    assert note("run-0 1", 1, 2) == ("run-0 1", 2)
    assert note("run-0 1", 3, 3) == ("run-0 3", 3)
    assert note("run-0 3", None, None) == ("run-1 0", 0)
    assert note("run-1 0", 1, 1) == ("run-1 1", 1)
    assert note("run-1 0", 0, 4) == ("run-1 0", 4)
