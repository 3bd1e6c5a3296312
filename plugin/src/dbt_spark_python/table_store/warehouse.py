"""A warehouse of folders, `<schema>.db/<table>/`: the folders are the tables, without a metastore beside them.

Spark writes the new tables of a process into the process's own folder. A finished table moves to its public place in
one step, so a public folder always holds one complete table, old or new. A killed process leaves only its own folder,
and the next process removes it. This module imports neither Spark nor dbt.

    <warehouse>/shop.db/orders/        the table `shop.orders`: its data files alone
    <warehouse>/shop.db/.manifests/    the run, time, inputs and files of each table (`manifest`)
    <warehouse>/shop.db/.views/        views, as the statements that create them
    <warehouse>/shop.db/.damaged/      the last damaged folder of each table that was rebuilt
    <warehouse>/.passed/               tests that passed, with their inputs (dbt_spark_python.incremental.passes)
    <warehouse>/.lock                  held by the process that builds
    <warehouse>/.sessions/<id>/        a process's own folder
        tables/                        tables that it is writing
        scratch/                       Spark's local files
"""

import contextlib
import os
import shutil
import stat
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from dbt_spark_python.table_store import durable_files, manifest
from dbt_spark_python.table_store.atomic_swap import replace_folder
from dbt_spark_python.table_store.errors import WarehouseError, translate_os_errors
from dbt_spark_python.table_store.integrity import digest_content, digest_files, find_faults, list_files
from dbt_spark_python.table_store.process_folder import FileLock, ProcessFolder
from dbt_spark_python.table_store.public_folders import Publication, PublishedTable, as_published, is_delta, is_public

_ASIDE = ".replaced-"
_DAMAGED = ".damaged"

_FOLDER, _FILE = 0o700, 0o600  # The modes of tables for their owner only

#: Seconds between two attempts to lock the warehouse, and between two lines about the wait.
_TRY_S, _TELL_S = 0.2, 15.0
#: A table with this many files is rewritten in full instead of extended.
MOST_FILES = 64


class Warehouse:
    """The warehouse at `root`, as one process sees it; a `WarehouseError` tells why it cannot be created."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self._translate_errors = partial(translate_os_errors, self.root)
        with self._translate_errors("make the warehouse"):
            self.root.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(self.root / ".lock")
        self._owner_only: set[tuple[str, str]] = set()
        self._process = ProcessFolder(self.root)
        self.process_folder = self._process.path
        self.tables = self.process_folder / "tables"  # this process's new tables
        self.scratch = self.process_folder / "scratch"  # the engine's local files

    def close(self) -> None:
        """Remove this process's folder and give back its locks."""
        self._process.close()
        self.end_writing()

    @property
    def is_writing(self) -> bool:
        """Whether this process holds the warehouse."""
        return self._lock.is_held

    def begin_writing(self, wait_s: float = 0, tell: Callable[[str], None] | None = None) -> None:
        """Lock the warehouse for this process, and clean up after dead processes; `tell` takes lines about the wait.

        Raises:
            WarehouseError: Another process still holds it after `wait_s` seconds, or it cannot be written to.
        """
        if self.is_writing:
            return
        if not self._process.is_writable:
            raise WarehouseError(
                f"the warehouse {self.root} is not writable: check its owner, or use another warehouse"
            )
        if not self._take_lock(wait_s, tell):
            waited = f"after {wait_s:g} s, " if wait_s else ""
            holder = self._lock.read_holder()
            raise WarehouseError(
                f"{waited}the warehouse {self.root} is being built by {holder}: wait until that ends, let runs wait "
                f"longer (spark.dbt.lock_wait in the profile), or use another warehouse (this one stays readable)"
            )
        with self._translate_errors("clear the warehouse"):
            self._process.clear_dead()
            for aside in self.root.glob(f"*.db/{_ASIDE}*"):  # a killed process left it between two renames
                place = aside.with_name(aside.name[len(_ASIDE) :])
                shutil.rmtree(aside, ignore_errors=True) if place.exists() else aside.rename(place)

    def _take_lock(self, wait_s: float, tell: Callable[[str], None] | None) -> bool:
        """Take the lock, in turn with processes that wait as well; return False if the time is over."""
        begin, told = time.monotonic(), -_TELL_S
        while True:
            with self._translate_errors("write to the warehouse"):
                if self._lock.acquire():
                    return True
            waited = time.monotonic() - begin
            if waited >= wait_s:
                return False
            if tell and waited - told >= _TELL_S:
                told = waited
                holder = self._lock.read_holder()
                tell(f"waiting for {holder}, which builds in {self.root} ({waited:.0f} of {wait_s:g} s)")
            time.sleep(min(_TRY_S, wait_s - waited))

    def end_writing(self) -> None:
        """Release the lock, so that other processes can build."""
        self._lock.release()

    def publish(
        self,
        schema: str,
        name: str,
        run_id: str,
        publication: Publication | None = None,
        columns: str | None = None,
        count: Callable[[], dict[str, int] | None] | None = None,
    ) -> PublishedTable:
        """Move a new table to its public place, in one step; the old table is removed.

        `publication` is its origin, for the manifest; `columns` its schema as Spark's JSON, if the files lack a part of
        it. `count` counts the rows that differ from the published table, if files differ.

        Raises:
            WarehouseError: Another process holds the warehouse, or the disk refuses.
        """
        self.begin_writing()
        publication = publication or Publication()
        new, place = self.private_place(schema, name), self.public_place(schema, name)
        aside = place.with_name(f"{_ASIDE}{place.name}")
        with self._translate_errors(f"publish {schema}.{name}"):
            remove_marks(new)
            if (schema, name) in self._owner_only:
                restrict(new)
            before, files = manifest.read(place), list_files(new)
            faults, digests = find_faults(place, before), digest_files(new, files, before)
            content = digest_content(digests)
            changes = count() if count and before.get("content") != content else None
            entries = manifest.describe(run_id, publication, before, content, changes)
            entries |= {"files": files, "digests": digests, "columns": columns}
            path = manifest.write(place, entries, self.draft_path(), is_new=True)
            noted = before.get("files", {}) if before.get("digests") else {}
            # Unchanged files of the published table are on disk already.
            durable_files.sync_tree(new, {file for file, facts in files.items() if noted.get(file) == facts})
            replace_folder(new, place, aside)
            durable_files.sync_folder(place.parent)
            manifest.remove_others(path)
        for old in (new, aside):
            if faults and old.is_dir():
                self._set_aside(old, schema, name)
            shutil.rmtree(old, ignore_errors=True)
        self._view(schema, name).unlink(missing_ok=True)
        return as_published(place, entries)

    def record_reuse(self, schema: str, name: str, run_id: str, publication: Publication) -> None:
        """Record that a run reused a published table, and its origin."""
        self.begin_writing()
        place = self.public_place(schema, name)
        with self._translate_errors(f"keep {schema}.{name}"):
            noted = manifest.read(place) | {"run_id": run_id} | publication.origin()
            manifest.write(place, noted, self.draft_path())

    def mark_owner_only(self, schema: str, name: str, is_so: bool) -> None:
        """Set whether only its owner may read a table; its files are then 0600 and its folders 0700 once published."""
        marks = self._owner_only
        (marks.add if is_so else marks.discard)((schema.lower(), name.lower()))
        place = self.public_place(schema.lower(), name.lower())
        if is_so and place.is_dir():  # written by an earlier version, or in place (Delta)
            with self._translate_errors(f"take {schema}.{name} from other users"):
                restrict(place)

    def publish_view(self, schema: str, name: str, statement: str) -> None:
        """Store the statement that creates a view; a table of the same name is removed."""
        self.begin_writing()
        view = self._view(schema, name)
        with self._translate_errors(f"publish {schema}.{name}"):
            view.parent.mkdir(parents=True, exist_ok=True)
            durable_files.write_text(view, statement, self.draft_path())
        shutil.rmtree(self.public_place(schema, name), ignore_errors=True)

    def link_files(self, source: tuple[str, str], target: tuple[str, str]) -> None:
        """Add the files of a published table to a new table of this process, by links.

        Spark never writes into an existing file, so the published table is unaffected.
        """
        place, copy = self.public_place(*source), self.private_place(*target)
        with self._translate_errors(f"copy {'.'.join(source)}"):
            shutil.copytree(place, copy, copy_function=_link, dirs_exist_ok=True)

    def can_grow(self, schema: str, name: str) -> bool:
        """Whether rows may be added to a published table in new files: its files are intact and not too many."""
        return 0 < len(self.trusted_manifest(schema, name).get("files", {})) < MOST_FILES

    def draft_path(self) -> Path:
        """Return a path for a small file that is renamed once it is complete."""
        return self.process_folder / f"{uuid.uuid4().hex}.draft"

    def clear_leftovers(self, schema: str, name: str) -> None:
        """Remove files of a failed attempt from the place of a new table."""
        shutil.rmtree(self.private_place(schema, name), ignore_errors=True)

    def public_place(self, schema: str, name: str) -> Path:
        """Return the folder where readers find a table."""
        return self.root / f"{schema}.db" / name

    def private_place(self, schema: str, name: str) -> Path:
        """Return the folder where Spark writes a new table; tables of the schema `default` are at the top."""
        return self.tables / (f"{schema}.db" if schema != "default" else "") / name

    def published(self, schema: str | None = None) -> list[PublishedTable]:
        """Return the published tables of one schema or of all, by name."""
        folders = sorted(self.root.glob(f"{schema or '*'}.db/*"))
        return [table for folder in folders if (table := _find(folder))]

    def find(self, schema: str, name: str) -> PublishedTable | None:
        """Return a published table, if it exists and is intact."""
        return _find(self.public_place(schema, name))

    def trusted_manifest(self, schema: str, name: str) -> dict[str, Any]:
        """Return the manifest of a published table; empty if its files have changed since, or if it does not exist."""
        folder = self.public_place(schema.lower(), name.lower())
        entries = manifest.read(folder)
        is_trusted = folder.is_dir() and not is_delta(folder) and entries.get("files") == list_files(folder)
        return entries if is_trusted and not entries.get("damaged") else {}

    def views(self) -> dict[tuple[str, str], str]:
        """Return the statements of the views by schema and name; special files are left out."""
        found = {}
        for file in sorted(self.root.glob("*.db/.views/*.sql")):
            with contextlib.suppress(OSError, ValueError):
                found[file.parts[-3][: -len(".db")], file.stem] = durable_files.read_text(file)
        return found

    def _set_aside(self, folder: Path, schema: str, name: str) -> None:
        """Move a damaged folder to `.damaged`, replacing an older one: its owner may need the readable part."""
        place = self.root / f"{schema}.db" / _DAMAGED / name
        with contextlib.suppress(OSError):
            place.parent.mkdir(exist_ok=True)
            shutil.rmtree(place, ignore_errors=True)
            folder.rename(place)

    def _view(self, schema: str, name: str) -> Path:
        return self.root / f"{schema}.db" / ".views" / f"{name}.sql"


def _find(folder: Path) -> PublishedTable | None:
    """Return the table in a public folder, if it is intact: a Delta log or parquet files."""
    if not is_public(folder) or not (is_delta(folder) or any(folder.rglob("*.parquet"))):
        return None
    noted = manifest.read(folder)
    return None if find_faults(folder, noted) else as_published(folder, noted)


def remove_marks(folder: Path) -> None:
    """Remove checksums and marks that Spark writes beside data files: some readers of folders do not skip them."""
    if not is_delta(folder):
        for file in [path for path in folder.rglob("*") if path.name.startswith(("_", ".")) and path.is_file()]:
            file.unlink()


def restrict(folder: Path) -> None:
    """Remove all access for group and others from a folder and its contents; the folder itself comes first."""
    for path in (folder, *folder.rglob("*")):
        mode = _FOLDER if path.is_dir() else _FILE
        if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) != mode:
            path.chmod(mode)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # the file system does not support links
        shutil.copy2(source, target)
