"""Tables with damaged files, and manifests of any content, without an engine."""

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import overwrite
from dbt_spark_python.table_store import durable_files, manifest, warehouse
from dbt_spark_python.table_store.damage import explain, list_damaged, record_damage

ROWS = pa.table({"id": range(1000)})
ORIGIN = warehouse.Publication({"code": "1"})


@pytest.fixture
def published(folders) -> Path:
    """The folder of a published table `s.t` of two files."""
    place = folders.private_place("s", "t")
    place.mkdir(parents=True)
    for number, name in enumerate(("a.parquet", "b.parquet")):
        pq.write_table(ROWS.slice(number), place / name, compression="none")
    folders.publish("s", "t", "run", ORIGIN)
    return folders.public_place("s", "t")


def flip_bit(folder: Path) -> None:
    """Change a byte of the values; keep size and modification time."""
    content = bytearray((folder / "b.parquet").read_bytes())
    content[500] ^= 1
    overwrite(folder / "b.parquet", content)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda t: os.truncate(t / "b.parquet", 4000), "/t/b.parquet' is not a parquet file (4,000 bytes)"),
        (lambda t: os.truncate(t / "b.parquet", 0), "/t/b.parquet' is not a parquet file (0 bytes)"),
        (lambda t: (t / "b.parquet").unlink(), "/t/b.parquet' is missing"),
        (lambda t: os.mkfifo(t / "c.parquet"), "/t/c.parquet' is a pipe, not a file"),
        (lambda t: (t / "c.parquet").symlink_to("nowhere"), "/t/c.parquet' is a dangling link, not a file"),
    ],
)
def test_a_damaged_table_is_named_and_counts_as_missing(folders, published, spoil, said):
    spoil(published)
    (line,) = list_damaged(folders.root)
    assert line.startswith("the table 's.t' is damaged and counts as missing: ")
    assert said in line
    assert line.endswith("The next build that selects it rebuilds it")
    assert (folders.published(), folders.find("s", "t"), folders.trusted_manifest("s", "t")) == ([], None, {})


def test_flipped_bits_are_found_by_all_bytes_and_remembered(folders, published):
    original = (published / "b.parquet").read_bytes()
    assert record_damage(folders, "s", "t") is None
    flip_bit(published)
    assert folders.trusted_manifest("s", "t")["definition"] == {"code": "1"}, "a quick look finds no fault"
    said = f"the table 's.t' is damaged: '{published}/b.parquet' has changed since it was published"
    assert record_damage(folders, "s", "t") == said
    assert (folders.published(), folders.trusted_manifest("s", "t")) == ([], {})

    (published / "b.parquet").write_bytes(original)
    assert not list(list_damaged(folders.root)), "somebody has put it right"
    assert len(folders.published()) == 1


def test_linked_files_keep_their_published_digest(folders, published):
    """A flipped bit in a linked file is still found after the next publication."""
    flip_bit(published)
    folders.link_files(("s", "t"), ("s", "t"))
    pq.write_table(ROWS, folders.private_place("s", "t") / "c.parquet")
    folders.publish("s", "t", "next")
    assert "/b.parquet' has changed since it was" in record_damage(folders, "s", "t")


def test_an_engines_error_is_explained_by_the_tables_that_were_read(folders, published):
    flip_bit(published)
    code = "select * from `s`.`t` join s.others using (id)"
    assert explain(folders, "division by zero", code) is None
    assert explain(folders, "Parquet error: corrupt page", "select 1 from s.others") is None
    assert "the table 's.t' is damaged: " in explain(folders, "Parquet error: corrupt page", code)
    assert explain(folders, "Parquet error: corrupt page", code) is None, "it counts as missing now"


DEEP = "[" * 200_000
GROUPS = {"history": "h 0", "since": 0, "upto": 5}
WRONG = [{"upto": "5"}, {"upto": None}, {"upto": 5.0}, {"since": True}, {"history": 5}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DEEP, "nested too deep"),
        ('{"files": ' + DEEP, "nested too deep"),
        ("{", "it is not JSON"),
        ("\xff", "it is not JSON"),
        ("[1]", "its JSON is not an object"),
        ('{"files": [1]}', "another type of value under files"),
        ('{"files": {"a.parquet": "x"}}', "another type of value under files"),
        ('{"files": null, "run_id": 7, "inputs": []}', "another type of value under run_id, inputs, files"),
        ('{"digests": {"a.parquet": 1}}', "another type of value under digests"),
        ('{"definition": {"code": 1}}', "another type of value under definition"),
        ("", "it is not JSON"),
        *(
            (json.dumps({"groups": groups}), "another type of value under groups")
            for groups in ([], "h 0", 5, {}, *(GROUPS | wrong for wrong in WRONG), {"history": "h 0", "upto": 5})
        ),
        ('{"changes": {"rows_added": true}}', "another type of value under changes"),
    ],
)
def test_a_manifest_of_any_content_is_tolerated(folders, published, text, said):
    manifest.path_of(published).write_text(text)
    (line,) = list_damaged(folders.root)
    assert line.startswith(f"'{manifest.path_of(published)}' cannot be used: ")
    assert said in line
    (table,) = folders.published()
    assert (table.run_id, folders.trusted_manifest("s", "t")) == (None, {})


def test_a_manifest_that_is_not_a_file(folders, published):
    place = manifest.path_of(published)
    for make, said in (
        (lambda: os.mkfifo(place), "it is a pipe, not a file"),
        (place.mkdir, "it is a folder, not a file"),
        (lambda: place.write_bytes(bytes(durable_files.MOST_BYTES + 1)), "at most 16,777,216 are read"),
    ):
        place.rmdir() if place.is_dir() else place.unlink()
        make()
        assert said in next(list_damaged(folders.root))
        assert folders.published()[0].run_id is None
    for text in ("{}", '{"run_id": null}'):
        place.write_text(text)
        assert folders.published()[0].run_id is None


def test_odd_files_among_the_tables(folders, published):
    """File names are escaped in messages; a view that is no file is left out."""
    (published / "\x1b[31m\n.parquet").write_text("")
    assert all(line.isprintable() for line in list_damaged(folders.root))
    folders.publish_view("s", "v", "CREATE VIEW s.v AS SELECT 1")
    os.mkfifo(folders.root / "s.db" / ".views" / "w.sql")
    assert folders.views() == {("s", "v"): "CREATE VIEW s.v AS SELECT 1"}


def test_a_table_is_synced_before_it_is_published(folders, monkeypatch):
    """Bytes are synced first, then file names, and last the name of the table."""
    done = []
    monkeypatch.setattr(
        durable_files.os, "fsync", lambda descriptor: done.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    )
    move = warehouse.replace_folder
    monkeypatch.setattr(warehouse, "replace_folder", lambda *given: done.append("move") or move(*given))
    for run in ("first", "second"):
        done.clear()
        if run == "second":
            folders.link_files(("s", "t"), ("s", "t"))
        new = folders.private_place("s", "t")
        (new / "day=1").mkdir(parents=True, exist_ok=True)
        pq.write_table(ROWS, new / "day=1" / f"{run}.parquet")
        folders.publish("s", "t", run)
        before, after = done[: done.index("move")], done[done.index("move") + 1 :]
        # Files linked from the published table were synced when that table was published.
        assert [path for path in before if path.endswith(".parquet")] == [str(new / "day=1" / f"{run}.parquet")]
        assert before.index(str(new / "day=1")) < before.index(str(new))
        place = folders.public_place("s", "t")
        assert str(place.parent / manifest.FOLDER / place.name) in before
        assert manifest.read(place)["run_id"] == run and len([*manifest.path_of(place).parent.iterdir()]) == 1
        assert after == [str(folders.public_place("s", "t").parent)]
