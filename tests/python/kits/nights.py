"""Four logs that change from night to night, and random steps that change them and their tables."""

import random
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from conftest import ROOT, DbtProject
from killed_build import Build
from mutations import KINDS

#: The files of each log, with their lines.
Files = dict[str, dict[str, list[bytes]]]

#: SQL rounds compute the first build, and kernels the others. Ids are not verified, so that many mutated lines are
#: accepted.
OPTIONS = {"verify_signatures": False, "ancestor_limit": 6, "clock_limit": 10**6}
#: Tables about the runs.
HISTORIES = {"timeline_updates", "autobase_updates", "runs", "run_changes"}
PUBLIC = sorted({path.stem for path in (ROOT / "models/marts").rglob("*.sql")} - HISTORIES)
#: Columns about the runs in other tables.
_HISTORY = {"previous_publication", "update_step", "update_from_position", "update_to_position"}
#: Vars other than those of `OPTIONS`.
_VARS = {"ancestor_limit": 5, "edit_batch_size": 3}
#: Parts of the project that are built alone.
_PARTS = [
    *("+feeds", "+tangle_edges", "stg_ssb__lines", "ssb_messages", "feeds", "int_tangle_claims+", "+timeline_events"),
    *("+set_messages", "+int_set_versions", "autobase_views", "+autobase_nodes", "+int_timeline_versions"),
    "group_next",
]
#: The end of the error of a model whose inputs have the rows of a few groups alone.
BUILD_INPUTS = "with its inputs: --select +"


def write(folder: Path, files: Files) -> None:
    """Write these files into the folder of each log, and remove all others."""
    for kind in KINDS:
        (folder / kind).mkdir(exist_ok=True)
        for path in (folder / kind).iterdir():
            path.unlink()
        for name, lines in files[kind].items():
            (folder / kind / name).write_bytes(b"".join(line + b"\n" for line in lines))


def variables(folder: Path) -> dict[str, object]:
    """Return the vars of builds over the logs in a folder."""
    return OPTIONS | {f"{kind}_log": str(folder / kind) for kind in KINDS}


def contents(built: DbtProject, table: str) -> list[str]:
    """Read a table in a fixed order, without its columns about runs."""
    rows = ({name: value for name, value in row.items() if name not in _HISTORY} for row in built.rows(table))
    return sorted(map(repr, rows))


def differing(one: DbtProject, other: DbtProject, tables: Sequence[str] = PUBLIC) -> list[str]:
    """Return the tables in which two builds differ."""
    return [table for table in tables if contents(one, table) != contents(other, table)]


class Nights:
    """A search: random steps that change four logs, which begin with some of the lines, and their tables."""

    def __init__(self, built: DbtProject, folder: Path, lines: dict[str, list[bytes]], seed: int) -> None:
        self.built, self.folder, self.rng = built, folder, random.Random(seed)
        self.waiting = {kind: list(lines[kind]) for kind in KINDS}
        self.files: Files = {kind: {} for kind in KINDS}
        for kind in KINDS:
            for name in ("a.jsonl", "b.jsonl"):
                self.files[kind][name] = self._take(kind, len(lines[kind]) // 3)
        self.drawn: list = []
        write(folder, self.files)

    def step(self) -> str:
        """Do one step and return its name. Every step is drawn before one is repeated."""
        if not self.drawn:
            self.drawn = [
                *(self.add_lines, self.remove_lines, self.rename_file, self.reorder_lines, self.change_var),
                *(self.build_part, self.delete_table, self.damage_file, self.kill_run),
            ]
            self.rng.shuffle(self.drawn)
        step = self.drawn.pop()
        said = step()
        write(self.folder, self.files)
        return f"{step.__name__} {said}"

    def add_lines(self) -> str:
        """Add earlier or new lines to some logs, in an existing or a new file."""
        for kind in self.rng.sample(KINDS, self.rng.randint(1, 4)):
            name = self.rng.choice([*self.files[kind], f"new{self.rng.randrange(1000)}.jsonl"])
            added = self._take(kind, self.rng.choice((1, 5, 30)))
            self.files[kind][name] = self.files[kind].get(name, []) + added
        return str({kind: {name: len(lines) for name, lines in files.items()} for kind, files in self.files.items()})

    def remove_lines(self) -> str:
        """Remove lines from a file, or the whole file."""
        kind, name = self._file()
        lines = self.files[kind][name]
        gone = set(self.rng.sample(range(len(lines)), min(len(lines), self.rng.choice((1, 10, 1000)))))
        self.waiting[kind] += [lines[place] for place in sorted(gone)]
        self.files[kind][name] = [line for place, line in enumerate(lines) if place not in gone]
        if not self.files[kind][name] and len(self.files[kind]) > 1:
            del self.files[kind][name]
        return f"{kind} {name} {len(gone)}"

    def rename_file(self) -> str:
        """Rename a file."""
        kind, name = self._file()
        self.files[kind][f"other{self.rng.randrange(1000)}.jsonl"] = self.files[kind].pop(name)
        return f"{kind} {name}"

    def reorder_lines(self) -> str:
        """Reorder the lines of a file."""
        kind, name = self._file()
        self.rng.shuffle(self.files[kind][name])
        return f"{kind} {name}"

    def change_var(self) -> str:
        """Give a var another value, or its first one again."""
        name = self.rng.choice([*_VARS])
        if self.built.vars.get(name) == _VARS[name]:
            self.built.vars.pop(name)
            self.built.vars.update({name: OPTIONS[name]} if name in OPTIONS else {})
        else:
            self.built.vars[name] = _VARS[name]
        return f"{name} {self.built.vars.get(name)}"

    def build_part(self) -> str:
        """Build a part of the project; its models may fail with the error that their inputs must be built, too."""
        part = self.rng.choice(_PARTS)
        result = self.built.invoke_parsed("run", "--select", part)
        messages = [each.message for each in result.result if each.status == "error"]
        assert all(BUILD_INPUTS in message for message in messages), messages
        return f"{part} {len(messages)}"

    def delete_table(self) -> str:
        """Delete the folder of a table."""
        place = self._table()
        shutil.rmtree(place)
        return place.name

    def damage_file(self) -> str:
        """Damage a file of a table: it has fewer rows, or is no longer parquet."""
        place = self._table()
        file = self.rng.choice(sorted(place.rglob("*.parquet")))
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)  # Spark's checksum of the old bytes
        rows = pq.read_table(file)
        file.unlink()  # another table may have a link to it
        if self.rng.random() < 0.5:
            file.write_bytes(b"PAR1")
        else:
            pq.write_table(pa.concat_tables([rows.slice(1), rows.slice(0, 1), rows.slice(0, 1)]), file)
        return f"{place.name} {file.name}"

    def kill_run(self) -> str:
        """Kill a build in another process at a random moment."""
        folder = self.built.warehouse / "killed"
        folder.mkdir(exist_ok=True)
        build = Build(self.built.warehouse, self.built.schema, folder, self.built.vars, [])
        build.open()
        moment = self.rng.uniform(2, 25)
        time.sleep(moment)
        said = f"after {moment:.1f} s" if build.process.poll() is None else "too late"
        build.kill()
        return said

    def _take(self, kind: str, count: int) -> list[bytes]:
        waiting = self.waiting[kind]
        taken = sorted(self.rng.sample(range(len(waiting)), min(count, len(waiting))), reverse=True)
        return [waiting.pop(place) for place in taken]

    def _file(self) -> tuple[str, str]:
        kind = self.rng.choice(KINDS)
        return kind, self.rng.choice(sorted(self.files[kind]))

    def _table(self) -> Path:
        folders = sorted((self.built.warehouse / f"{self.built.schema}.db").glob("[!._]*"))
        return self.rng.choice([folder for folder in folders if folder.is_dir() and folder.name not in HISTORIES])
