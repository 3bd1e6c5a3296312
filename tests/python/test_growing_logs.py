"""Logs that grow, lose files and are shuffled: tables made of what they were before are those of one build.

What was verified or reduced before is not verified or reduced again: a mark in an earlier table is found in the next.
"""

import json
import random
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import ROOT
from dbt_spark_python.integrity import digest_folder
from mutations import KINDS, mutated

#: Tables of all ways of making them are filled; ids are claimed, so that much of what was mutated is let in.
OPTIONS = {"verify_signatures": False, "ancestor_limit": 6, "sql_edge_limit": 0, "sql_round_budget": 1}
LATER = {"ancestor_limit": 5}
REDUCED = sorted(
    path.stem
    for path in (ROOT / "python_models").rglob("*.py")
    if "dbt.this" in path.read_text() and path.stem != "int_autobase_published"
)
#: Tables that SQL makes group by group.
BY_GROUP = sorted(path.stem for path in (ROOT / "models").rglob("*.yml") if "by_group:" in path.read_text())
MODELS = ("--select", *(f"+{name}" for name in (*REDUCED, *BY_GROUP)))
# What tells of the runs.
HISTORY = {"previous_publication", "update_step", "update_from_position", "update_to_position"}
LINES = {kind: mutated(kind, 500, 7, False) for kind in KINDS}


def write(folder: Path, files: dict[str, dict[str, list[bytes]]]) -> None:
    """Make the folder of each log hold these files and no others."""
    for kind in KINDS:
        (folder / kind).mkdir(exist_ok=True)
        for path in (folder / kind).iterdir():
            path.unlink()
        for name, lines in files[kind].items():
            (folder / kind / name).write_bytes(b"".join(line + b"\n" for line in lines))


def halves(kind: str) -> dict[str, list[bytes]]:
    """Nine of ten lines, whatever they are, in two files: roots and what others follow are missing."""
    kept = [line for place, line in enumerate(LINES[kind]) if place % 10 != 3]
    return {"a.jsonl": kept[::2], "b.jsonl": kept[1::2]}


def more(kind: str) -> dict[str, list[bytes]]:
    """One file grows, another is new: what was missing comes at last, and copies of what was there."""
    files = halves(kind)
    late = LINES[kind][3::10]
    return files | {"b.jsonl": files["b.jsonl"] + late[::2], "c.jsonl": late[1::2] + files["a.jsonl"][:20] * 3}


def others(kind: str) -> dict[str, list[bytes]]:
    """A file is gone, the lines of another are in another order, the third has another name."""
    files = more(kind)
    shuffled = random.Random(kind).sample(files["b.jsonl"], len(files["b.jsonl"]))
    return {"b.jsonl": shuffled, "d.jsonl": files["c.jsonl"]}


def grow(folder: Path, lines: list[bytes]) -> None:
    """Add lines to the SSB log."""
    with (folder / "ssb" / "b.jsonl").open("ab") as log:
        log.write(b"".join(line + b"\n" for line in lines))


def contents(built, table: str) -> list[str]:
    """Read a table, rows in a fixed order."""
    rows = ({name: value for name, value in row.items() if name not in HISTORY} for row in built.rows(table))
    return sorted(map(repr, rows))


def tables(built) -> list[str]:
    folders = (built.warehouse / f"{built.schema}.db").iterdir()
    return sorted(folder.name for folder in folders if folder.is_dir() and folder.name[0] not in "._")


@pytest.fixture(scope="module")
def variables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("growing")
    return folder, OPTIONS | {f"{kind}_log": str(folder / kind) for kind in KINDS}


@pytest.mark.both_at_length
def test_any_way_ends_in_the_same_rows(project, variables):
    """As one build of what is there at the end makes them."""
    folder, given = variables
    grown, at_once = project("growing", **given), project("grown_at_once", **given | LATER)
    before: dict[str, list[str]] = {}
    for state in (halves, more, others):
        write(folder, {kind: state(kind) for kind in KINDS})
        grown.vars.update(LATER if state is others else {})
        grown.run(*MODELS)
        found = {table: contents(grown, table) for table in REDUCED}
        assert [table for table, rows in found.items() if not rows or rows == before.get(table)] == []
        before = found
    at_once.run(*MODELS)
    assert set(REDUCED) < set(tables(grown)) == set(tables(at_once))
    for table in set(tables(grown)) - {"runs", "run_changes"}:
        assert contents(grown, table) == contents(at_once, table), table


def mark(
    built,
    table: str,
    column: str,
    value: object,
    kind: pa.DataType = pa.string(),  # noqa: B008
    files: set[str] | None = None,
) -> None:
    """Change a column of a table's rows, or of those in some files, behind the back of what looks after it.

    Tests that passed have passed with it then.
    """
    place = built.warehouse / f"{built.schema}.db" / table
    for file in place.glob("*.parquet"):
        if files is None or file.name in files:
            rows = pq.read_table(file)
            at = rows.column_names.index(column)
            file.with_name(f".{file.name}.crc").unlink(missing_ok=True)  # Spark's own, of the bytes that were
            pq.write_table(rows.set_column(at, column, pa.array([value] * len(rows), kind)), file)
    stamp = json.loads((place / "_table.json").read_text())
    before, stamp["content"] = stamp["content"], digest_folder(place)
    stats = {file.name: file.stat() for file in place.glob("*.parquet")}
    del stamp["digests"]
    stamp["files"] = {name: [found.st_size, found.st_mtime_ns] for name, found in stats.items()}
    (place / "_table.json").write_text(json.dumps(stamp))
    for note in (built.warehouse / ".passed").glob("*"):
        passed = json.loads(note.read_text())
        for name, content in passed["made_of"].items():
            if content == before:
                passed["made_of"][name] = stamp["content"]
        note.write_text(json.dumps(passed))


def test_what_is_known_is_not_made_again(project, variables, capsys):
    """Neither lines nor groups; but all of them where they would be made in another way, or the files were changed."""
    folder, given = variables
    write(folder, {kind: halves(kind) for kind in KINDS})
    models = ("--select", "+int_autobase_walk", "+int_set_messages")
    built = project("known", **given)
    built.run(*models)
    first = {name: built.rows(name) for name in ("stg_autobase__lines", "int_autobase_walk", "stg_pzp__lines")}

    mark(built, "stg_autobase__lines", "detail", "marked")
    mark(built, "int_autobase_walk", "set_aside_reason", "marked")
    place = built.warehouse / "known.db" / "stg_autobase__lines"
    files = {file.name: file.stat().st_ino for file in place.glob("*.parquet")}
    with (folder / "autobase" / "b.jsonl").open("a") as log:
        log.write('no JSON\n{"base": "of its own", "indexers": ["%s"]}\n' % ("a" * 64))
    capsys.readouterr()
    built.run(*models)
    assert "made anew" not in capsys.readouterr().out
    lines, walk = built.rows("stg_autobase__lines"), built.rows("int_autobase_walk")
    details = {row["detail"] for row in lines if row["detail"] != "marked"}
    assert details == {None, "not JSON at column 1: expecting value"}
    assert len(lines) == len(first["stg_autobase__lines"]) + 2
    assert files.items() < {file.name: file.stat().st_ino for file in place.glob("*.parquet")}.items()
    assert {row["base_id"] for row in walk if row["set_aside_reason"] != "marked"} == {"of its own"}
    assert len(walk) == len(first["int_autobase_walk"]) + 1

    # Another way: for the pzp log alone.
    mark(built, "stg_pzp__lines", "data_kind", "marked")
    built.vars["verify_signatures"] = True
    built.run(*models)
    said = capsys.readouterr().out
    assert "stg_pzp__lines is made anew: its way of being made" in said
    assert "stg_autobase__lines is made anew" not in said
    assert "marked" not in {row["data_kind"] for row in built.rows("stg_pzp__lines")}
    assert "marked" in {row["detail"] for row in built.rows("stg_autobase__lines")}

    # A hand in the files, that does not know of the stamp.
    file = max(place.glob("*.parquet"), key=lambda file: file.stat().st_size)
    pq.write_table(pq.read_table(file).slice(1), file)
    built.run(*models)
    assert "stg_autobase__lines is made anew" in capsys.readouterr().out
    assert "marked" not in {row["detail"] for row in built.rows("stg_autobase__lines")}
    assert len(built.rows("stg_autobase__lines")) == len(lines)


def test_what_sql_makes_of_other_groups_is_copied(project, variables):
    """Of groups with new rows all is made again, in runs that were left out too; without the steps all of it."""
    folder, given = variables
    write(folder, {kind: halves(kind) for kind in KINDS})
    lines = LINES["ssb"][3::10]
    built = project("by_group", **given)
    select = ("--select", "+feed_messages")
    built.run(*select)

    def is_copied() -> dict[str, bool]:
        found = {}
        for row in built.rows("feed_messages"):
            found.setdefault(row["author"], set()).add(row["reason"] == "marked")
        return {author: marks.pop() for author, marks in found.items() if len(marks) == 1 or pytest.fail(author)}

    # Those who wrote what comes in two runs, of which the second alone goes as far as this table.
    mark(built, "feed_messages", "reason", "marked")
    before = {row["message_id"] for row in built.rows("ssb_messages")}
    grow(folder, lines[:2])
    built.run("--select", "+ssb_messages")
    grow(folder, lines[2:4])
    built.run(*select)
    new = {row["author"] for row in built.rows("ssb_messages") if row["message_id"] not in before and row["is_usable"]}
    copied = is_copied()
    assert new and {author for author in copied if not copied[author]} == new != set(copied)

    # One that has no rows any more goes, and nobody else's are made again.
    authors = {row["author"] for row in built.rows("feed_messages")}
    rows = sorted(built.rows("stg_ssb__lines"), key=lambda row: row["row_id"])
    written = {author: [row for row in rows if row["author"] == author] for author in authors}
    gone = min(authors - new, key=lambda author: (len(written[author]), author))
    ids = {row["message_id"].encode() for row in written[gone]}
    for file in (folder / "ssb").iterdir():
        kept = [line for line in file.read_bytes().split(b"\n") if not any(known in line for known in ids)]
        file.write_bytes(b"\n".join(kept))
    built.run(*select)
    assert gone not in is_copied()

    # Without the way from what it was made of to what there is now.
    shutil.rmtree(built.warehouse / "by_group.db" / ".steps" / "int_feed_links", ignore_errors=True)
    mark(built, "feed_messages", "reason", "marked")
    grow(folder, lines[4:6])
    built.run("--select", "+int_feed_links")
    shutil.rmtree(built.warehouse / "by_group.db" / ".steps" / "int_feed_links")
    built.run(*select)
    assert not any(is_copied().values())
    at_once = project("by_group_at_once", **given)
    at_once.run(*select)
    for table in set(tables(at_once)) - {"runs", "run_changes"}:
        assert contents(built, table) == contents(at_once, table), table


def failed(built, command: str, *select: str) -> set[str]:
    """Run a command of dbt; the names of what failed."""
    result = built.invoke(command, *select, "--exclude-resource-type", "unit_test")
    return {r.node.name for r in result.result if r.status not in ("success", "pass", "no-op")}


def test_tests_look_at_what_is_touched(project, variables):
    """In a build those of rows that are unique in a group; `dbt test` at everything."""
    folder, given = variables
    write(folder, {kind: halves(kind) for kind in KINDS})
    built = project("touched", **given)
    select = ("--select", "+int_feed_tangles")
    built.build(*select)
    mark(built, "int_feed_tangles", "sequence", 1, pa.int32())
    grow(folder, LINES["ssb"][3:60:10])
    unique = "rows_of_int_feed_tangles"
    assert unique not in failed(built, "build", *select)
    marked_rows = [row for row in built.rows("int_feed_tangles") if row["sequence"] == 1]
    assert len(marked_rows) > len({row["author"] for row in marked_rows})
    assert unique in failed(built, "test", *select)
