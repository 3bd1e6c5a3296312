"""`tangles check` without a file: edit scripts compared with the published order, for any state of the tables."""

import json
import random
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from answer_schemas import validate
from dbt_tangles.algorithms.timeline import verify_edits
from dbt_tangles.cli.cli import main


def run(arguments: list[str]) -> int:
    """Run the command, print what it does, and return its exit code."""
    result = CliRunner().invoke(main, ["check", *arguments])
    sys.stdout.write(result.stdout)
    sys.stderr.write(result.stderr)
    return result.exit_code


IDS = [("timeline_id", pa.string()), ("event_id", pa.string())]
COMMAND = [("step", pa.int32()), ("op", pa.string()), ("from_position", pa.int32()), ("to_position", pa.int32())]
SCHEMAS = {
    "timeline_events": pa.schema([*IDS, ("rank", pa.int32()), ("position", pa.int32())]),
    "timeline_edits": pa.schema([*IDS, ("batch", pa.int64()), *COMMAND]),
    "timeline_updates": pa.schema([*IDS, ("previous_publication", pa.string()), *COMMAND]),
}


def good_tables() -> dict[str, list[dict]]:
    """Return two published timelines: `t` is b, c, a after a, b; `u` is x after an empty order."""

    def command(timeline, step, event, taken, put):
        op = "ins" if taken is None else "mov"
        names = ("timeline_id", "step", "op", "event_id", "from_position", "to_position")
        return dict(zip(names, (timeline, step, op, event, taken, put), strict=True))

    orders = {"t": "bca", "u": "x"}
    return {
        "timeline_events": [
            {"timeline_id": timeline, "event_id": event, "rank": 0, "position": position}
            for timeline, order in orders.items()
            for position, event in enumerate(order)
        ],
        "timeline_edits": [
            {"batch": 1, **command("t", 1, "a", None, 0)},
            {"batch": 2, **command("t", 1, "b", None, 1)},
            {"batch": 10, **command("t", 1, "a", 0, 1)},
            {"batch": 10, **command("t", 2, "c", None, 1)},
            {"batch": 1, **command("u", 1, "x", None, 0)},
        ],
        "timeline_updates": [
            {"previous_publication": "d1", **command("t", 1, "a", 0, 1)},
            {"previous_publication": "d1", **command("t", 2, "c", None, 1)},
            {"previous_publication": None, **command("u", 1, "x", None, 0)},
        ],
    }


@pytest.fixture
def tables_folder(tmp_path):
    folder = tmp_path / "tangles.db"
    folder.mkdir()
    return folder


@pytest.fixture
def write(tables_folder):
    """Write tables as Spark does: folders of several unordered files, and a file that is not a table's."""

    def write_tables(tables: dict[str, list[dict]]) -> list[str]:
        for name, rows in tables.items():
            folder = tables_folder / name
            folder.mkdir(exist_ok=True)
            (folder / "_SUCCESS").touch()
            shuffled = random.Random(1).sample(rows, len(rows))
            for part in range(2):
                pq.write_table(pa.Table.from_pylist(shuffled[part::2], SCHEMAS[name]), folder / f"part-{part}.parquet")
        return ["--warehouse", str(tables_folder.parent)]

    return write_tables


def test_tables_that_agree(write, capsys):
    arguments = write(good_tables())
    assert run(arguments) == 0
    printed = capsys.readouterr()
    assert printed.out == "2 timelines, 4 events, 5 commands: 2 agree, 0 differ\n"
    assert printed.err == ""


WRONG = {
    "order": ("timeline_edits", 3, {"to_position": 2}, "at position 1 the edits put 'a', published is 'c'"),
    "event": ("timeline_edits", 3, {"event_id": "d"}, "at position 1 the edits put 'd', published is 'c'"),
    "moved": ("timeline_edits", 2, {"event_id": "b"}, "batch 10, step 1: it moves 'b', but 'a' is at 0"),
    "nowhere": ("timeline_edits", 2, {"from_position": 2}, "batch 10, step 1: mov 'a': position 2 is not one of the 2"),
    "put": ("timeline_edits", 1, {"to_position": 2}, "batch 2, step 1: ins 'b': position 2 is not one of the 2"),
    "op": (
        "timeline_edits",
        1,
        {"op": "del"},
        "batch 2, step 1: it is neither an ins nor a mov: 'del', from None, to 1",
    ),
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
def test_a_wrong_table(case, write, capsys):
    table, row, change, message = WRONG[case]
    tables = good_tables()
    if change is None:
        del tables[table][row]
    else:
        tables[table][row] |= change
    assert run(write(tables)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("'t': ") and lines[0].endswith(message) and len(lines) == 2
    assert lines[1].endswith(": 1 agree, 1 differ")


def test_a_script_must_start_from_an_empty_order(write, capsys):
    tables = good_tables()
    for row in tables["timeline_updates"]:
        row["previous_publication"] = None
    assert run(write(tables)) == 1
    assert "starts from nothing, but 2 events are there without it" in capsys.readouterr().out


@pytest.mark.parametrize("table", ["timeline_edits", "timeline_events"])
def test_a_timeline_that_only_one_table_has(table, write, capsys):
    tables = good_tables()
    tables[table] = [row for row in tables[table] if row["timeline_id"] != "u"]
    tables["timeline_updates"] = tables["timeline_updates"][:2]
    assert run(write(tables)) == 1
    assert capsys.readouterr().out.startswith("'u': the edits make")


def test_only_the_first_that_differ_are_named(write, capsys):
    tables = good_tables()
    tables["timeline_events"] += [
        {"timeline_id": f"v{number:03}", "event_id": "\x1b[31m", "rank": 0, "position": 0} for number in range(100)
    ]
    assert run(write(tables)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 22 and lines[0] == "'v000': the edits make 0 events, published are 1"
    assert lines[-2:] == [
        "… and 80 more (--json lists them)",
        "102 timelines, 104 events, 5 commands: 2 agree, 100 differ",
    ]


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_missing_table(name, write, tables_folder, capsys):
    tables = good_tables()
    del tables[name]
    assert run(write(tables)) == 2
    message = capsys.readouterr().err
    assert (
        f"{tables_folder}/{name}: there is no such table" in message
        and "dbt build" in message
        and "--warehouse" in message
    )


def test_builds_without_edits(write, capsys):
    assert run(write(good_tables() | {"timeline_edits": []})) == 2
    assert "edit_batch_size" in capsys.readouterr().err


def test_timelines_that_are_too_long_for_edits(write, tables_folder, capsys):
    """Timelines without edits are listed in `timeline_stats`; for others, missing edits are an error."""
    arguments = write(good_tables())
    names = ["t", "u", "long"]
    for count, code in ((0, 0), (7, 1)):
        tables = good_tables()
        tables["timeline_events"].append({"timeline_id": "long", "event_id": "e", "rank": 0, "position": 0})
        arguments = write(tables)
        (tables_folder / "timeline_stats").mkdir(exist_ok=True)
        stats = pa.table({"timeline_id": names, "edit_count": pa.array([3, 2, count])})
        pq.write_table(stats, tables_folder / "timeline_stats" / "part.parquet")
        assert run(arguments) == code
        said = capsys.readouterr().out
        assert ("2 agree, 0 differ, 1 without edits" in said) == (code == 0)


def test_no_timelines_at_all(write, capsys):
    assert run(write({name: [] for name in SCHEMAS})) == 0
    assert capsys.readouterr().out == "0 timelines, 0 events, 0 commands: 0 agree, 0 differ\n"


def _drop_column(file):
    pq.write_table(pq.read_table(file).drop_columns(["position"]), file)


def _other_type(file):
    table = pq.read_table(file)
    pq.write_table(table.set_column(3, "position", pa.array(["one"] * len(table))), file)


def _null(file):
    table = pq.read_table(file)
    pq.write_table(table.set_column(3, "position", pa.nulls(len(table), pa.int32())), file)


def _not_unicode(file):
    table = pq.read_table(file)
    broken = pa.array([b"\xff"] * len(table)).view(pa.string())
    pq.write_table(table.set_column(1, "event_id", broken), file)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda file: file.write_bytes(b"PAR1 no parquet"), "cannot be read"),
        (_drop_column, "no column position"),
        (_other_type, "cannot be read"),
        (_null, "position is null in"),
        (_not_unicode, "cannot be read"),
    ],
)
def test_a_table_that_cannot_be_read(damage, message, write, tables_folder, capsys):
    arguments = write(good_tables())
    for file in (tables_folder / "timeline_events").glob("*.parquet"):
        damage(file)
    assert run(arguments) == 2
    assert f"{tables_folder}/timeline_events: {message}" in capsys.readouterr().err


def test_an_empty_folder_and_an_unknown_scheme(write, tables_folder, capsys):
    write({"timeline_edits": []})
    (tables_folder / "timeline_events").mkdir()
    assert run(["--warehouse", str(tables_folder.parent)]) == 2
    assert run(["--warehouse", "nowhere://bucket"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_a_uri(write, tmp_path):
    write(good_tables())
    assert run(["--warehouse", tmp_path.as_uri()]) == 0


def test_the_default_folder(monkeypatch, capsys):
    monkeypatch.setenv("TANGLES_WAREHOUSE", "nowhere://bucket/")
    monkeypatch.setenv("TANGLES_SCHEMA", "other")
    assert run([]) == 2
    assert "nowhere://bucket/other.db/timeline_events" in capsys.readouterr().err


def test_many_commands_are_read_in_parts(write, monkeypatch, capsys):
    monkeypatch.setattr(verify_edits, "_AT_ONCE", 3)
    tables = good_tables()
    assert run(write(tables)) == 0
    tables["timeline_edits"][3]["to_position"] = 9
    assert run(write(tables)) == 1
    assert "batch 10, step 2: ins 'c': position 9 is not one of the 3" in capsys.readouterr().out


def test_as_data(write, capsys):
    tables = good_tables()
    tables["timeline_edits"][3]["to_position"] = 2
    assert run([*write(tables), "--json"]) == 1
    report = validate(json.loads(capsys.readouterr().out))["edits"]
    assert report["agree"] == 1 and list(report["differ"]) == ["t"]
    assert report["timelines"] == 2 and report["events"] == 4 and report["commands"] == 5


def test_runs_as_a_command(write):
    command = [sys.executable, "-m", "dbt_tangles.cli.cli", "check", *write(good_tables())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "2 agree" in done.stdout and done.stderr == ""
    wrong = subprocess.run([*command, "--no-such-option"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
