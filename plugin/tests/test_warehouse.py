"""A warehouse of folders, without Spark: publishing, leftovers, locks, and errors with cause and remedy."""

import os
import subprocess
import textwrap
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import publish_files, write_files
from dbt_process import run_python
from dbt_spark_python.session import connection
from dbt_spark_python.table_store import atomic_swap, durable_files
from dbt_spark_python.table_store import warehouse as warehouse_module
from dbt_spark_python.table_store.errors import WarehouseError
from dbt_spark_python.table_store.warehouse import Warehouse


def read(warehouse: Warehouse) -> dict[str, str]:
    """The content of the table `s.t` for a reader; parquet readers skip hidden names."""
    place = warehouse.public_place("s", "t")
    return {file.name: file.read_text() for file in place.iterdir() if file.name[0] not in "._"}


def in_another_process(code: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess:
    """Run code with the names of this package imported."""
    preamble = "import os, sys\nfrom pathlib import Path\n"
    preamble += "".join(f"from dbt_spark_python.table_store.{name} import *\n" for name in ("errors", "warehouse"))
    return run_python(preamble + textwrap.dedent(code), *arguments, check=check)


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_table_is_the_old_one_or_the_new_one(folders, monkeypatch, can_exchange):
    """A file system that can exchange names has it at any moment; without that, two renames follow each other."""
    if not can_exchange:
        monkeypatch.setattr(atomic_swap, "_exchange", lambda one, other: False)
    is_there, rename, place = [], os.rename, folders.public_place("s", "t")
    monkeypatch.setattr(os, "rename", lambda *paths: (rename(*paths), is_there.append(place.exists())))
    for run in ("first", "second"):
        write_files(folders, {f"{run}.parquet": run})
        assert place.exists() is (run == "second")
        folders.publish("s", "t", run)
        assert read(folders) == {f"{run}.parquet": run}
    assert is_there == ([True] if can_exchange else [True, False, True])
    (table,) = folders.published("s")
    assert (table.schema, table.name, table.run_id) == ("s", "t", "second")
    left = sorted(path.name for path in place.parent.iterdir())
    assert left == [".manifests", "t"], "nothing else is left over"
    assert not folders.private_place("s", "t").exists()


def test_a_process_killed_between_two_renames_keeps_the_table(folders):
    publish_files(folders, {"old.parquet": "old"}, "old")
    place = folders.public_place("s", "t")
    place.rename(place.with_name(".replaced-t"))
    folders.end_writing()
    assert folders.published("s") == []
    folders.begin_writing()
    assert read(folders) == {"old.parquet": "old"}

    # ... and one killed after both renames leaves no trace.
    place.with_name(".replaced-t").mkdir()
    folders.end_writing()
    folders.begin_writing()
    assert sorted(path.name for path in place.parent.iterdir()) == [".manifests", "t"]


def test_leftovers_of_a_killed_process_are_removed(tmp_path):
    killed = in_another_process(
        """
        warehouse = Warehouse(Path(sys.argv[1]))
        warehouse.begin_writing()
        (warehouse.private_place("s", "t") / "_temporary").mkdir(parents=True)
        (warehouse.scratch / "shuffle.data").write_text("text of messages")
        print(warehouse.process_folder, flush=True)
        os.kill(os.getpid(), 9)
        """,
        str(tmp_path),
        check=False,
    )
    left = Path(killed.stdout.strip())
    assert killed.returncode == -9
    assert (left / "scratch" / "shuffle.data").exists()
    for folder in (left.parent, left):
        assert folder.stat().st_mode & 0o777 == 0o700, "for its owner's eyes only"
    warehouse = Warehouse(tmp_path)
    warehouse.begin_writing()
    assert not left.exists()
    assert warehouse.process_folder.exists()
    assert not left.with_suffix(".lock").exists()
    warehouse.close()
    assert sorted(path.name for path in (tmp_path / ".sessions").iterdir()) == []


def test_the_folder_of_a_living_process_stays(folders, tmp_path):
    other = in_another_process(
        """
        reader = Warehouse(Path(sys.argv[1]))
        print(Path(sys.argv[2]).exists())
        reader.close()
        """,
        str(folders.root),
        str(folders.process_folder),
    )
    assert other.stdout == "True\n"
    folders.end_writing()
    in_another_process("w = Warehouse(Path(sys.argv[1])); w.begin_writing(); w.close()", str(folders.root))
    assert folders.tables.exists()


def test_a_second_builder_waits_for_the_first(folders, monkeypatch):
    """Lines tell about the wait; after the given time the error says so."""
    monkeypatch.setattr(warehouse_module, "_TELL_S", 0.1)
    other, lines = Warehouse(folders.root), []
    with pytest.raises(WarehouseError, match=f"^the warehouse .* is being built by process {os.getpid()} since"):
        other.begin_writing()
    with pytest.raises(WarehouseError, match=r"^after 0\.5 s, the warehouse .* is being built by process"):
        other.begin_writing(0.5, lines.append)
    assert 2 <= len(lines) <= 6 and lines[0].endswith("(0 of 0.5 s)")
    threading.Timer(0.3, folders.end_writing).start()
    other.begin_writing(30)
    assert other.is_writing and not folders.is_writing
    other.close()


def test_another_user_reads_a_warehouse(folders):
    """A user who may not write reads all tables but those that are their owner's alone."""
    folders.mark_owner_only("s", "keys", True)
    for name in ("t", "keys"):
        publish_files(folders, {"a.parquet": ""}, name=name)
    folders.end_writing()
    code = """
        if os.getuid() == 0:  # root may write everywhere
            os.chmod(sys.argv[1], 0o755)
            os.setgroups([]), os.setgid(65534), os.setuid(65534)
        else:
            Path(sys.argv[1], "s.db", "keys").chmod(0)
        reader = Warehouse(Path(sys.argv[1]))
        print([table.name for table in reader.published()])
        print(oct(reader.process_folder.stat().st_mode & 0o777), reader.process_folder.is_relative_to(reader.root))
        try:
            reader.begin_writing()
        except WarehouseError as error:
            print(error)
        reader.close()
        print(reader.process_folder.exists())
    """
    for folder in [folders.root, *folders.root.parents][:4]:
        folder.chmod(folder.stat().st_mode | 0o055)
    modes = {folder: folder.stat().st_mode for folder in (folders.root, folders.root / ".sessions")}
    try:
        for folder in modes:
            folder.chmod(0o555)
        listed, session, told, left = in_another_process(code, str(folders.root)).stdout.splitlines()
    finally:
        for folder, mode in modes.items():
            folder.chmod(mode)
    assert listed == "['t']"
    assert session == "0o700 False"
    assert f"the warehouse {folders.root} is not writable: check its owner" in told
    assert left == "False"


def test_a_file_is_not_a_warehouse(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WarehouseError, match=r"cannot make the warehouse at .*/file: .*a warehouse must be a folder"):
        Warehouse(tmp_path / "file")
    with pytest.raises(WarehouseError, match="a warehouse must be a folder: move the file away"):
        Warehouse(tmp_path / "file" / "below")


def test_a_full_disk_is_reported_and_loses_no_table(folders, monkeypatch):
    publish_files(folders, {"old.parquet": "old"}, "old")
    write_files(folders, {"new.parquet": "new"})

    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(durable_files, "sync_file", full)
    with pytest.raises(WarehouseError, match=r"cannot publish s\.t at .*No space left on device \(free some space"):
        folders.publish("s", "t", "new")
    assert read(folders) == {"old.parquet": "old"}


def test_a_half_written_folder_is_not_a_table(folders):
    """Killed processes of older versions left such folders."""
    for name, file in [("half", "_temporary/0/part.parquet"), ("empty", "_SUCCESS"), ("whole", "part.parquet")]:
        path = folders.public_place("s", name) / file
        path.parent.mkdir(parents=True)
        pq.write_table(pa.table({"id": [1]}), path)
    assert [table.name for table in folders.published()] == ["whole"]


def test_a_copy_to_add_to_leaves_the_public_table_alone(folders):
    publish_files(folders, {"a.parquet": "a", "b.parquet": "b"}, "first")
    folders.link_files(("s", "t"), ("s", "t"))
    with pytest.raises(WarehouseError, match=r"cannot copy s\.none at .*No such file"):
        folders.link_files(("s", "none"), ("s", "t"))
    copy, public = folders.private_place("s", "t"), folders.public_place("s", "t")
    (copy / "b.parquet").unlink()
    (copy / "c.parquet").write_text("c")
    assert read(folders) == {"a.parquet": "a", "b.parquet": "b"}
    kept = (public / "a.parquet").stat().st_ino
    folders.publish("s", "t", "second")
    assert read(folders) == {"a.parquet": "a", "c.parquet": "c"}
    assert (public / "a.parquet").stat().st_ino == kept


def test_a_table_grows_unless_it_has_too_many_files_or_changed_ones(folders, monkeypatch):
    publish_files(folders, {"a.parquet": "a", "b.parquet": "b"}, "first")
    assert folders.can_grow("S", "T") and not folders.can_grow("s", "none")
    with monkeypatch.context() as patched:
        patched.setattr(warehouse_module, "MOST_FILES", 2)
        assert not folders.can_grow("s", "t")
    (folders.public_place("s", "t") / "b.parquet").write_text("others")
    assert not folders.can_grow("s", "t")


def test_a_view_and_a_table_take_each_others_place(folders):
    publish_files(folders, {"a.parquet": ""}, name="x")
    folders.publish_view("s", "x", "CREATE VIEW s.x AS SELECT 1")
    assert (folders.published("s"), folders.views()) == ([], {("s", "x"): "CREATE VIEW s.x AS SELECT 1"})
    publish_files(folders, {"a.parquet": ""}, name="x")
    assert ([table.name for table in folders.published("s")], folders.views()) == (["x"], {})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *((name, "in a path; use a folder without it") for name in ("a[1]", "a,b", "a*", "{a}", "a\nb", "a\x1b[31m")),
        *((name, "in a path; use a folder without it") for name in ("a\x85", "a\udcff")),
        *((place, "iceberg or delta") for place in ("s3a://bucket/tables", "hdfs:///tables", "file:///tables")),
    ],
)
def test_a_place_that_engines_misread_is_refused(tmp_path, monkeypatch, name, said):
    """The message is printable and names the path. No folder is created, also not one that is named like an address."""
    monkeypatch.chdir(tmp_path)
    place = name if "://" in name else str(tmp_path / name)
    with pytest.raises(WarehouseError, match=said) as refused:
        connection.open_warehouse(place)
    assert str(refused.value).isprintable() and repr(place) in str(refused.value)
    assert list(tmp_path.iterdir()) == []
