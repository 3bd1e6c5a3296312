"""Logs that grow, lose files and are reordered between runs: all public tables equal those of one full build."""

import json
import random
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbt_spark_python.table_store import manifest
from dbt_spark_python.table_store.integrity import digest_content, digest_files, list_files
from dbt_tangles.formats.json.printing import canonical_text
from dbt_tangles.formats.ssb.ids import message_id
from fixtures.ssb.author import Author
from mutations import KINDS, mutated
from nights import OPTIONS, PUBLIC, Nights, differing, variables, write
from ssb_kit import NOW, POST, value_of

LATER = {"ancestor_limit": 5}
LINES = {kind: mutated(kind, 500, 7, False) for kind in KINDS}


def halves(lines: list[bytes]) -> dict[str, list[bytes]]:
    """Keep nine of ten lines in two files: roots and other messages that are listed are missing."""
    kept = [line for place, line in enumerate(lines) if place % 10 != 3]
    return {"a.jsonl": kept[::2], "b.jsonl": kept[1::2]}


def more(lines: list[bytes]) -> dict[str, list[bytes]]:
    """One file grows and another is new: the missing lines and copies of earlier lines come last."""
    files, late = halves(lines), lines[3::10]
    return files | {"b.jsonl": files["b.jsonl"] + late[::2], "c.jsonl": late[1::2] + files["a.jsonl"][:20] * 3}


def others(lines: list[bytes]) -> dict[str, list[bytes]]:
    """One file is removed, another has its lines in another order, and the third has another name."""
    files = more(lines)
    shuffled = random.Random(1).sample(files["b.jsonl"], len(files["b.jsonl"]))
    return {"b.jsonl": shuffled, "d.jsonl": files["c.jsonl"]}


def test_a_small_log_is_built_in_full(project, tmp_path):
    """The checks of its lines are kept; all tables equal those of one build."""
    tables = ["ssb_messages", "feeds", "tangle_messages", "timeline_events"]
    selected, log = ("--select", *(f"+{table}" for table in tables)), {"ssb_log": str(tmp_path / "ssb")}
    grown = project("small_nights", **log, incremental_from=1_000_000)
    for state in (halves, more):
        write(tmp_path, {kind: state(LINES[kind]) for kind in KINDS})
        grown.run(*selected)
    assert differing(grown, project("small_at_once", **log).run(*selected), tables) == []
    assert {row["version"] for row in grown.rows("stg_ssb__lines", ["version"])} == {1, 2}
    assert {row["version"] for row in grown.rows("int_tangle_versions", ["version"])} == {1}


@pytest.mark.parametrize(
    ("states", "later"),
    [
        pytest.param([halves, others], {}, marks=pytest.mark.both, id="two"),
        pytest.param([halves, more, others], LATER, marks=pytest.mark.long, id="three"),
    ],
)
def test_any_sequence_of_logs_ends_in_the_same_rows(project, tmp_path, states, later):
    """After any history, the tables equal one build of the last state."""
    given, name = variables(tmp_path), len(states)
    grown, at_once = project(f"growing_{name}", **given), project(f"grown_at_once_{name}", **given | later)
    for state in states:
        write(tmp_path, {kind: state(LINES[kind]) for kind in KINDS})
        grown.vars.update(later if state is others else {})
        grown.run()
        if state is more:
            middle = project("grown_middle", **given).run()
            assert differing(grown, middle) == []
    runs = sorted(grown.rows("runs"), key=lambda row: row["started_at"])
    assert [row["is_full"] for row in runs] == [True, *[False] * (len(states) - 1)]
    at_once.run()
    assert differing(grown, at_once) == []
    assert [row["is_full"] for row in at_once.rows("runs")] == [True]


@pytest.mark.long
@pytest.mark.parametrize(
    ("steps", "seed"),
    [
        pytest.param(3, 5, marks=pytest.mark.spark),
        pytest.param(25, 0, marks=pytest.mark.xdist_group("nights_0")),
    ],
)
def test_any_steps_end_in_the_same_rows(project, tmp_path, steps, seed):
    """Steps run in any order with builds between them; each build gives the tables of one full build."""
    lines = {kind: mutated(kind, 240, seed, False) for kind in KINDS}
    built = project(f"nights_{steps}_{seed}", **variables(tmp_path))
    nights = Nights(built, tmp_path, lines, seed)
    built.run()
    done = []
    for number in range(1, steps + 1):
        done.append(nights.step())
        if number == steps or nights.rng.random() < 0.5:
            built.run()
            at_once = project(f"nights_at_once_{number}", **built.vars).run()
            assert differing(built, at_once) == [], done
            shutil.rmtree(built.warehouse / f"{at_once.schema}.db")


@pytest.mark.long
def test_a_copy_with_another_decrypted_content_changes_the_timeline_of_the_log(project):
    writers = [Author.from_seed(name) for name in ("one", "two", "sealed")]
    roots = [value_of(POST, writer) for writer in writers[:2]]
    ids = [message_id(canonical_text(root)) for root in roots]
    sealed = value_of("c2VhbGVk.box", writers[2])
    meta = {"private": True, "originalContent": sealed["content"]}
    shown = [
        {"type": "post", "text": text, "tangles": {"thread": {"root": root, "previous": [root]}}}
        for text, root in zip("ba", ids, strict=True)
    ]
    copies = [{"value": {**sealed, "content": each}, "meta": meta, "timestamp": NOW} for each in shown]
    lines = [json.dumps(line).encode() for line in (*roots, *copies)]
    selected = ("--select", "+timeline_links")
    grown = project("grown_by_a_copy", log_timeline="full").given(ssb_log=lines[:3]).run(*selected)
    grown.given(ssb_log=lines).run(*selected)
    at_once = project("copies_at_once", **grown.vars).run(*selected)
    assert differing(grown, at_once, ["ssb_messages", "timeline_links"]) == []
    links = [row for row in grown.rows("timeline_links") if row["timeline_id"] == "ssb:log"]
    assert [row["cause_id"] for row in links] == ids[1:]


@pytest.fixture
def logs(tmp_path):
    """The logs before they grow, and the vars with their paths."""
    write(tmp_path, {kind: halves(LINES[kind]) for kind in KINDS})
    return tmp_path, variables(tmp_path)


def grow(folder, lines: list[bytes], kind: str = "ssb") -> None:
    with (folder / kind / "b.jsonl").open("ab") as log:
        log.write(b"".join(line + b"\n" for line in lines))


def place_of(built, table: str):
    return built.warehouse / f"{built.schema}.db" / table


def mark(built, table: str, column: str) -> None:
    """Change a column in all rows of a table, and its manifest: the rows still count as built."""
    place = place_of(built, table)
    for file in place.glob("*.parquet"):
        rows = pq.read_table(file)
        at, kind = rows.column_names.index(column), rows.schema.field(column).type
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)  # Spark's checksum of the old bytes
        file.unlink()
        pq.write_table(rows.set_column(at, column, pa.array(["marked"] * len(rows), kind)), file)
    path = manifest.path_of(place)
    noted = json.loads(path.read_text())
    path.unlink()
    files = list_files(place)
    digests = digest_files(place, files)
    noted |= {"files": files, "digests": digests, "content": digest_content(digests)}
    manifest.path_of(place).write_text(json.dumps(noted))


def test_cached_lines_and_unchanged_groups_stay(project, logs, capsys):
    """Each line is checked once, and only changed groups are rebuilt; a changed var or file rebuilds all groups."""
    folder, given = logs
    models = ("--select", "+autobase_nodes", "stg_pzp__lines")
    built = project("known", **given).run(*models)
    first = {name: built.rows(name) for name in ("stg_autobase__lines", "autobase_nodes")}
    mark(built, "stg_autobase__lines", "detail")
    mark(built, "autobase_nodes", "role")
    mark(built, "stg_pzp__lines", "data_kind")
    place = place_of(built, "stg_autobase__lines")
    inodes = {file.name: file.stat().st_ino for file in place.glob("*.parquet")}
    writer = "a" * 64
    node = {"base": "its own", "writer": writer, "length": 1, "heads": [], "batch": 1, "value": None}
    base = {"base": "its own", "indexers": [writer]}
    grow(folder, [b"no JSON", *(json.dumps(line).encode() for line in (base, node))], "autobase")
    capsys.readouterr()
    built.run(*models)
    assert "Rebuilding" not in capsys.readouterr().out
    lines, nodes = built.rows("stg_autobase__lines"), built.rows("autobase_nodes")
    details = {row["detail"] for row in lines if row["detail"] != "marked"}
    assert details == {None, "not JSON at column 1: expecting value"}
    assert len(lines) == len(first["stg_autobase__lines"]) + 3
    assert inodes.items() < {file.name: file.stat().st_ino for file in place.glob("*.parquet")}.items()
    assert {row["base_id"] for row in nodes if row["role"] != "marked"} == {"its own"}
    assert len(nodes) == len(first["autobase_nodes"]) + 1
    assert {row["base_id"] for row in built.rows("int_autobase_walk")} == {"its own"}

    # Another definition: the pzp log alone.
    built.vars["verify_signatures"] = True
    built.run(*models)
    said = capsys.readouterr().out
    assert "Rebuilding stg_pzp__lines: its config changed" in said
    assert "Rebuilding stg_autobase__lines" not in said
    assert "marked" not in {row["data_kind"] for row in built.rows("stg_pzp__lines")}
    assert "marked" in {row["detail"] for row in built.rows("stg_autobase__lines")}

    # Another program has changed files.
    file = max(place.glob("*.parquet"), key=lambda file: file.stat().st_size)
    pq.write_table(pq.read_table(file).slice(1), file)
    built.run(*models)
    assert "marked" not in {row["detail"] for row in built.rows("stg_autobase__lines")}
    assert len(built.rows("stg_autobase__lines")) == len(lines)


def test_runs_have_their_vars_and_whether_a_data_test_failed(project):
    types = [{"tangle_name": "page", "description": "C:\\new 'pages'"}]
    built = project("a_failed_test", tangle_types=types).run("--select", "tangle_types")
    assert types[0]["description"] in [row["description"] for row in built.rows("tangle_types")]
    mark(built, "tangle_types", "previous_rule")
    assert not built.invoke_parsed("build", "--select", "tangle_types").success
    runs = sorted(built.rows("runs"), key=lambda row: row["started_at"])
    assert [row["status"] for row in runs] == ["success", "error"]
    assert [json.loads(dict(row["vars"])["tangle_types"]) for row in runs] == [types, types]


@pytest.mark.long  # test_dbt_habits.py has a first build of models one by one
def test_models_built_one_by_one_end_in_the_same_rows(project, logs):
    folder, given = logs
    given = OPTIONS | {"ssb_log": given["ssb_log"]}
    built = project("one_by_one", **given)
    built.run()
    write(folder, {kind: more(LINES[kind]) for kind in KINDS})
    at_once = project("not_one_by_one", **given)
    ran = at_once.invoke_parsed("run").result
    models = [each.node.name for each in ran if each.node.resource_type == "model"]
    for name in models:
        built.run("--select", name)
    public = [name for name in models if name in PUBLIC]
    assert "group_members" in public and differing(built, at_once, public) == []
