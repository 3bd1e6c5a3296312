"""`tangles check` without a file: edit scripts compared with the published order, for any state of the tables."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli_kit import Warehouse
from dbt_tangles.algorithms.timeline import verify_edits

TABLES = ("timeline_events", "timeline_edits", "timeline_updates")


def command(timeline: str, step: int, event: str, taken: int | None, put: int, **columns) -> dict:
    row = {"timeline_id": timeline, "step": step, "op": "ins" if taken is None else "mov", "event_id": event}
    return row | {"from_position": taken, "to_position": put} | columns


def event(timeline: str, id_: str, position: int) -> dict:
    return {"timeline_id": timeline, "event_id": id_, "rank": 0, "position": position}


@pytest.fixture
def tables() -> dict[str, list[dict]]:
    """Two published timelines: `t` is b, c, a after a, b; `u` is x after an empty order."""
    moved, put = ("t", 1, "a", 0, 1), ("t", 2, "c", None, 1)
    return {
        "timeline_events": [*(event("t", id_, n) for n, id_ in enumerate("bca")), event("u", "x", 0)],
        "timeline_edits": [
            command("t", 1, "a", None, 0, batch=1),
            command("t", 1, "b", None, 1, batch=2),
            command(*moved, batch=10),
            command(*put, batch=10),
            command("u", 1, "x", None, 0, batch=1),
        ],
        "timeline_updates": [
            command(*moved, previous_publication="d1"),
            command(*put, previous_publication="d1"),
            command("u", 1, "x", None, 0),
        ],
    }


@pytest.fixture
def warehouse(tmp_path) -> Warehouse:
    return Warehouse(tmp_path / "wh")


@pytest.fixture
def check(warehouse, tables):
    """Write the tables as several unordered files, and a file that is not a table's; run the command."""

    def run(*words: str) -> tuple[int, list[str]]:
        for name, rows in tables.items():
            warehouse.write(name, *rows[::-1], files=2)
            (warehouse.folder / name / "_SUCCESS").touch()
        result = warehouse.ask("check", *words)
        return result.exit_code, (result.stdout + result.stderr).splitlines()

    return run


def test_tables_that_agree(check, warehouse, monkeypatch):
    """Also if commands are read in parts, and behind a URI."""
    expected = (0, ["2 timelines, 4 events, 5 commands: 2 agree, 0 differ"])
    assert check() == check("--warehouse", warehouse.root.as_uri()) == expected
    monkeypatch.setattr(verify_edits, "_AT_ONCE", 3)
    assert check() == expected


WRONG = {
    "order": ("timeline_edits", 3, {"to_position": 2}, "at position 1 the edits put 'a', published is 'c'"),
    "event": ("timeline_edits", 3, {"event_id": "d"}, "at position 1 the edits put 'd', published is 'c'"),
    "moved": ("timeline_edits", 2, {"event_id": "b"}, "batch 10, step 1: it moves 'b', but 'a' is at 0"),
    "nowhere": ("timeline_edits", 2, {"from_position": 2}, "batch 10, step 1: mov 'a': position 2 is not one of the 2"),
    "put": ("timeline_edits", 1, {"to_position": 2}, "batch 2, step 1: ins 'b': position 2 is not one of the 2"),
    "op": ("timeline_edits", 1, {"op": "del"}, "step 1: it is neither an ins nor a mov: 'del', from None, to 1"),
    "step": ("timeline_edits", 2, {"step": 3}, "at position 0 the edits put 'c', published is 'b'"),
    "fewer": ("timeline_edits", 3, None, "at position 1 the edits put 'a', published is 'c'"),
    "more": ("timeline_events", 2, None, "the edits make 3 events, published are 2"),
    "gap": ("timeline_events", 2, {"position": 3}, "timeline_events has no position 2, or has it twice"),
    "twice": ("timeline_events", 2, {"position": 1}, "timeline_events has no position 2, or has it twice"),
    "update event": ("timeline_updates", 1, {"event_id": "d"}, "step 2: it puts 'd' at 1, but 'c' is there"),
    "update put": ("timeline_updates", 1, {"to_position": 3}, "step 2 (ins 'c'): position 3 is not one of the 3"),
    "update from": ("timeline_updates", 0, {"from_position": 9}, "step 1 (mov 'a'): position 9 is not one of the 2"),
    "update op": ("timeline_updates", 0, {"op": "ins"}, "step 1: it is neither an ins nor a mov: 'ins', from 0, to 1"),
    "update starts": ("timeline_updates", 0, {"previous_publication": "d0"}, "more than one previous_publication"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_table(case, check, tables, warehouse, monkeypatch):
    monkeypatch.setattr(verify_edits, "_AT_ONCE", 3)
    table, row, change, message = WRONG[case]
    if change is None:
        del tables[table][row]
    else:
        tables[table][row] |= change
    code, (first, last) = check()
    assert code == 1 and first.startswith("'t': ") and first.endswith(message)
    assert last.endswith(": 1 agree, 1 differ")
    report = warehouse.json("check")["edits"]
    assert report["agree"] == 1 and list(report["differ"]) == ["t"] and report["timelines"] == 2


@pytest.mark.parametrize(("first_command", "left"), [({}, 2), ({"op": "ins", "from_position": None}, 1)])
def test_a_script_must_start_from_an_empty_order(first_command, left, check, tables):
    tables["timeline_updates"][0] |= first_command
    for row in tables["timeline_updates"]:
        row.pop("previous_publication", None)
    code, (first, *_) = check()
    assert code == 1 and f"starts from nothing, but {left} events are there without it" in first


@pytest.mark.parametrize("table", TABLES[:2])
def test_a_timeline_that_only_one_table_has(table, check, tables):
    for name in (table, "timeline_updates"):
        tables[name] = [row for row in tables[name] if row["timeline_id"] != "u"]
    code, (first, *_) = check()
    assert code == 1 and first.startswith("'u': the edits make")


def test_only_the_first_that_differ_are_named(check, tables):
    tables["timeline_events"] += [event(f"v{number:03}", "\x1b[31m", 0) for number in range(100)]
    code, lines = check()
    assert code == 1 and len(lines) == 22 and lines[0] == "'v000': the edits make 0 events, published are 1"
    assert lines[-2] == "… and 80 more (--json lists them)"
    assert lines[-1] == "102 timelines, 104 events, 5 commands: 2 agree, 100 differ"


@pytest.mark.parametrize("name", TABLES)
def test_a_missing_table(name, check, tables, warehouse):
    del tables[name]
    code, (said,) = check()
    assert code == 2 and f"{warehouse.folder}/{name}: there is no such table" in said
    assert "dbt build" in said and "--warehouse" in said


def test_builds_without_edits(check, tables):
    tables["timeline_edits"] = []
    code, (said,) = check()
    assert code == 2 and "edit_batch_size" in said


@pytest.mark.parametrize(("count", "is_well"), [(0, True), (7, False)])
def test_timelines_that_are_too_long_for_edits(check, tables, count, is_well):
    counts = {"t": 3, "u": 2, "long": count}
    tables["timeline_events"].append(event("long", "e", 0))
    tables["timeline_stats"] = [{"timeline_id": name, "edit_count": n} for name, n in counts.items()]
    code, lines = check()
    assert (code == 0) == ("2 agree, 0 differ, 1 without edits" in lines[-1]) == is_well


def test_no_timelines_at_all(check, tables):
    tables |= {name: [] for name in TABLES}
    assert check() == (0, ["0 timelines, 0 events, 0 commands: 0 agree, 0 differ"])


def damaged(column: str, make):
    return lambda table: table.set_column(table.column_names.index(column), column, make(len(table)))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (None, "cannot be read"),
        (lambda table: table.drop_columns(["position"]), "no column position"),
        (damaged("position", lambda n: pa.array(["one"] * n)), "cannot be read"),
        (damaged("position", lambda n: pa.nulls(n, pa.int32())), "position is null in"),
        (damaged("event_id", lambda n: pa.array([b"\xff"] * n).view(pa.string())), "cannot be read"),
    ],
    ids=["no parquet", "no column", "other type", "null", "not Unicode"],
)
def test_a_table_that_cannot_be_read(damage, message, check, warehouse):
    check()
    for file in (warehouse.folder / "timeline_events").glob("*.parquet"):
        if damage:
            pq.write_table(damage(pq.read_table(file)), file)
        else:
            file.write_bytes(b"PAR1 no parquet")
    result = warehouse.ask("check")
    assert result.exit_code == 2 and f"{warehouse.folder}/timeline_events: {message}" in result.stderr


def test_an_empty_folder_and_an_unknown_scheme(warehouse):
    (warehouse.folder / "timeline_events").mkdir()
    assert warehouse.ask("check").exit_code == 2
    result = warehouse.ask("check", "--warehouse", "nowhere://bucket/", "--schema", "other")
    assert result.exit_code == 2 and "nowhere://bucket/other.db/timeline_events" in result.stderr
