"""The page of figures, from small files made by hand: it shows their content, and only that."""

import json
import re
from argparse import Namespace
from itertools import pairwise
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from bench import __main__ as command
from bench import one_part, page, report, tables

MACHINE = {
    "processor": "A processor",
    "cores": 2,
    "memory_gib": 23.5,
    "load_average": [1.5, 2, 3],
    "system": "Linux 6",
    "revision": "0123abcdef+",
    "versions": {"python": "3.11.7", "java": 17},
}
LIMIT = {"cpu_s": 4.0, "wall_s": 3.0, "cpu_s_by_piece": {"moved": 2, "written": 3, "reread": 1}}


def put(folder: Path, part: str, results=(), goals=(), engine="spark", **changes) -> None:
    """Write a file as a benchmark does."""
    told = {
        "benchmark": part,
        "engine": engine,
        "date": "2026-11-23T06:58:11+00:00",
        "scale": 1.0,
        "repeats": 3,
        "goals": goals,
        "results": results,
        "load_at_start": [0.25, 1, 2],
        "machine": MACHINE,
    }
    report.path_of(part, engine, folder).write_text(json.dumps(told | changes))


def made(folder: Path, **options) -> str:
    """Return the page of the files in a folder."""
    return page.write(folder, folder / "out", **options).read_text()


def section(text: str, part: str) -> str:
    """Return the section of a part."""
    return re.search(rf"\n## {part}\n(.*?)(\n## |\Z)", text, re.DOTALL)[1]


def cells(text: str, begin: str) -> list[list[str]]:
    """Return the cells of the rows with a given first cell."""
    rows = ([cell.strip() for cell in line[2:-2].split(" | ")] for line in text.splitlines() if line[:1] == "|")
    return [row for row in rows if row[0] == begin]


def set_row(cpu: float, limit: dict | None = None, **changes) -> dict:
    found = {"part": "spark", "shape": "many", "messages": 1_000_000, "ratio": round(cpu / 4, 2)}
    return found | {"reduce": {"cpu_s": cpu, "wall_s": 7.25}, "limit": limit or LIMIT} | changes


def goal(measured, met, what="many / LIMIT", wanted="at most 2") -> dict:
    return {"what": what, "goal": wanted, "measured": measured, "met": met}


def test_parts_without_a_file_are_not_measured(tmp_path):
    text = made(tmp_path)
    assert "Nothing is measured." in text
    for part in page.PARTS:
        assert "not measured" in section(text, part)
    assert not list((tmp_path / "out").glob("*.svg")) and ".svg" not in text


def test_engines_stand_side_by_side(tmp_path):
    put(tmp_path, "sets", [set_row(6.0)], [goal(1.5, True)])
    put(tmp_path, "sets", [set_row(9.0)], [goal(2.25, False)], engine="sail")
    text = section(made(tmp_path), "sets")
    assert cells(text, "many / LIMIT") == [["many / LIMIT", "at most 2", "1.5, met", "2.25, **missed**"]]
    [head] = cells(text, "engine")
    assert head == ["engine", "shape", "messages", "CPU s", "clock, s", "LIMIT, CPU s", "/ LIMIT"]
    assert cells(text, "Spark") == [["Spark", "many", "1,000,000", "6", "7.25", "4", "1.5"]]
    assert cells(text, "Sail") == [["Sail", "many", "1,000,000", "9", "7.25", "4", "2.25"]]


def test_an_engine_that_was_not_measured_is_named(tmp_path):
    put(tmp_path, "sets", [set_row(9.0)], engine="sail")
    text = made(tmp_path)
    assert "sets on Spark: not measured." in section(text, "sets")
    assert [row[3] for row in cells(section(text, "sets"), "Sail")] == ["9"]
    assert not cells(section(text, "sets"), "Spark")
    assert cells(text, "sets on Spark")[0][1] == "not measured"


def test_when_where_and_of_which_commit(tmp_path):
    put(tmp_path, "sets", [set_row(6.0)], [goal(1.5, True), goal(3, False), goal(9, None)])
    text = made(tmp_path)
    assert cells(text, "sets on Spark") == [
        ["sets on Spark", "2026-11-23 06:58", "`0123abcdef+`", "1", "3", "0.25 to 1.5", "1 of 2"]
    ]
    assert cells(text, "processor") == [["processor", "A processor"]]
    assert cells(text, "python") == [["python", "3.11.7"]]


def test_two_machines_are_two_columns(tmp_path):
    put(tmp_path, "sets", [set_row(6.0)])
    put(tmp_path, "sets", [set_row(6.0)], engine="sail", machine=MACHINE | {"cores": 64})
    text = made(tmp_path)
    assert cells(text, "cores") == [["cores", "2", "64"]]
    assert "|  | sets on Spark | sets on Sail |" in text


def test_less_than_the_full_size_is_not_measured(tmp_path):
    put(tmp_path, "sets", [set_row(6.0)], scale=0.02)
    text = made(tmp_path)
    assert cells(text, "sets on Spark")[0][1] == "not measured (2026-11-23 06:58 at 0.02 of the full size only)"
    assert "1,000,000" not in section(text, "sets")
    text = made(tmp_path, is_full=False)
    assert cells(text, "sets on Spark")[0][3] == "0.02"
    assert "1,000,000" in section(text, "sets")


def test_a_part_that_failed_is_named_beside_older_figures(tmp_path):
    put(tmp_path, "sets", [set_row(6.0)])
    report.save_failure("sets", "spark", "RuntimeError: no | luck\n<b>", tmp_path)
    report.save_failure("groups", "sail", "its process ended with -9", tmp_path)
    text = made(tmp_path)
    assert re.search(
        r"sets on Spark: failed 20\d\d-\d\d-\d\d \d\d:\d\d, commit `?[\w.+-]*`?: RuntimeError: no \\\| luck &lt;b&gt;; "
        "the figures shown are older\\.",
        section(text, "sets"),
    )
    assert [row[3] for row in cells(section(text, "sets"), "Spark")] == ["6"]
    assert "its process ended with -9" in section(text, "groups")


HOSTILE = "<script>alert(1)</script> | [x](y) ![z](w)\n# `head` *b* $x$ \x00\u202e" + "A" * 500


def test_texts_stay_texts(tmp_path):
    """Texts of a file do not become HTML, links, rows or columns."""
    put(
        tmp_path,
        "sets",
        [set_row(6.0, shape=HOSTILE, messages=HOSTILE)],
        [goal(HOSTILE, True, HOSTILE, HOSTILE)],
        date=HOSTILE,
        repeats=HOSTILE,
        machine=MACHINE | {"revision": HOSTILE, "processor": HOSTILE, "versions": {HOSTILE: HOSTILE}},
    )
    put(tmp_path, "others", [{"shape": HOSTILE, "who": HOSTILE, "messages": 10, "ended": HOSTILE}])
    put(tmp_path, "builds", [{"build": HOSTILE, "moved": {HOSTILE: 3}, "messages": 1}])
    text = made(tmp_path)
    assert "<script" not in text and "\x00" not in text and "\u202e" not in text
    assert not re.search(r"(?<!\\)\[x|(?<!\\)`head|\n# .?head", text)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith(" |") for line in rows)
    for before, line in pairwise(rows):
        if set(line) <= set("|- "):
            assert len(re.findall(r"(?<!\\)\|", before)) == len(re.findall(r"(?<!\\)\|", line))
    assert "A" * 200 not in text
    assert "<script" not in (tmp_path / "out" / "limits.svg").read_text()


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", "7", '"text"', "[" * 100_000, "\ud800".encode("utf-8", "surrogatepass"), b"\xff\xfe"],
    ids=["empty", "cut", "list", "null", "number", "string", "deep", "surrogate", "bytes"],
)
def test_files_that_are_no_reports(content, tmp_path):
    (tmp_path / "sets.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert re.search(r"sets on Spark: not measured \(sets\.json (is no report|cannot be read .*)\)\.", made(tmp_path))


ODD = [None, True, 10**400, float("nan"), {"cpu_s": {}}, [[1]], [None], ["7"]]


@pytest.mark.parametrize(
    ("key", "odd"),
    [
        *((key, odd) for key in ("results", "goals", "machine", "date") for odd in ODD),
        *(("goals", [goal(1.5, odd)]) for odd in ODD if odd not in (None, True)),
        *(
            ("goals", [{name: 1 for name in ("what", "goal", "measured", "met") if name != left}])
            for left in ("what", "met")
        ),
    ],
)
def test_reports_with_values_of_other_types(key, odd, tmp_path):
    """A report with a value of another type, or without one, is named, and the page shows the other parts."""
    put(tmp_path, "sets", **{"results": [set_row(9.0)], key: odd})
    put(tmp_path, "sets", [set_row(9.0)], engine="sail")
    text = made(tmp_path)
    assert "sets on Spark: not measured (sets.json is no report)." in text
    assert cells(section(text, "sets"), "Sail")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1_234_567, "1,234,567"),
        (1234.5, "1,234"),
        (2.0, "2"),
        (1.499, "1.5"),
        (0.02, "0.02"),
        (0.000_45, "0.00045"),
        (1e-9, "1.0e-09"),
        (-0.24, "-0.24"),
        (True, "yes"),
        (None, ""),
        (float("nan"), "?"),
        ([1], "?"),
        ("int_group_results a_b _c_", r"int_group_results a_b \_c\_"),
    ],
)
def test_values_are_written_with_the_digits_that_matter(value, text):
    assert page.plain(value) == text


def test_others_at_each_size_and_where_they_ended(tmp_path):
    answers = {"tangles": {10: 1.0, 100: 2.0, 1000: 20.0}, "slow": {10: 3.0}}
    rows = [
        {"question": "depth", "shape": "W", "messages": size, "who": who, "cpu_s": cpu, "peak_mib": 7, "answer": 1}
        for who, sizes in answers.items()
        for size, cpu in sizes.items()
    ]
    rows.append({"question": "depth", "shape": "W", "messages": 100, "who": "slow", "ended": "over 60 s"})
    put(tmp_path, "others", rows)
    text = section(made(tmp_path), "others")
    seconds = cells(text.partition("Peak MiB")[0], "depth")
    assert [row[1:] for row in seconds] == [["W", "10", "1", "3"], ["W", "100", "2", ""], ["W", "1,000", "20", ""]]
    assert ["depth", "W", "slow", "100", "over 60 s"] in cells(text, "depth")
    assert "(others.svg)" in text and (tmp_path / "out" / "others.svg").exists()
    assert "GraphFrames" in text


def test_the_same_files_make_the_same_page(tmp_path):
    """The page does not depend on earlier plots; plots without figures are deleted."""
    put(tmp_path, "sets", [set_row(6.0), *({"part": "kernel", "messages": n, "cpu_s": n / 9} for n in (1, 10, 100))])
    first = made(tmp_path)
    drawn = {file.name: file.read_bytes() for file in (tmp_path / "out").glob("*.svg")}
    assert drawn.keys() == {"limits.svg", "growth.svg"}
    assert made(tmp_path) == first
    assert drawn == {file.name: file.read_bytes() for file in (tmp_path / "out").glob("*.svg")}
    (tmp_path / "sets.json").unlink()
    made(tmp_path)
    assert not list((tmp_path / "out").glob("*.svg"))


def test_tables_stand_under_their_names(tmp_path, monkeypatch):
    """The benchmark's row keeps the table's name beside its figures."""
    monkeypatch.setattr(tables, "read_columns", lambda spark, statement: [])
    found = {"ratio": 1.5, "limit": LIMIT}
    monkeypatch.setattr(tables, "beside_limit", lambda *given: {**found, given[3]: {"cpu_s": 6, "wall_s": 7.25}})
    row = tables.measure(MagicMock(), None, 1, "tangle_edges", "select 1", tmp_path)
    put(tmp_path, "tables", [{**row, "rows": 7}])
    (told,) = cells(section(made(tmp_path), "tables"), "tangle_edges")
    assert told == ["tangle_edges", "7", "6", "7.25", "4", "1.5"]


def test_moved_bytes_are_shown(tmp_path):
    moved = {"tasks": 120, "shuffles": 3, "shuffled_mib": 10.5, "longest_task_s": 2.5}
    put(tmp_path, "builds", [{"build": "medium", "wall_s": 90.0, "cpu_s": 100, "messages": 7, "moved": moved}])
    text = section(made(tmp_path), "builds")
    assert "| engine | build | tasks | shuffles | shuffled, MiB | longest task, s |" in text
    assert ["Spark", "medium", "120", "3", "10.5", "2.5"] in cells(text, "Spark")


def test_the_command_says_where_it_wrote(tmp_path, capsys):
    put(tmp_path, "sets", [set_row(6.0)])
    assert page.main(["--results", str(tmp_path), "--out", str(tmp_path / "page")]) == 0
    assert str(tmp_path / "page" / "README.md") in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        page.main(["--results", str(tmp_path / "nowhere")])
    assert stopped.value.code == 2 and "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("measured", "is_full"),
    [([], True), (["--scale", "0.5"], False), (["--peer-log", "log.jsonl"], False)],
    ids=["full", "less", "own log"],
)
def test_every_run_writes_the_page(measured, is_full, tmp_path, monkeypatch, capsys):
    """Only runs at full size, over the logs made here, write the repository's page; they do so after a failure too."""
    monkeypatch.chdir(tmp_path)
    Path("log.jsonl").touch()
    monkeypatch.setattr(command, "run_apart", lambda name, options: False)
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(report, "FIGURES", tmp_path / "docs" / "figures")
    monkeypatch.setattr(page, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(page, "SMALL", tmp_path / "small")
    assert command.main(["ask", *measured]) == 1
    assert (tmp_path / "docs" / "README.md").exists() == is_full
    assert (tmp_path / "small" / "README.md").exists() != is_full
    assert "page: written to" in capsys.readouterr().out


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_a_success_takes_back_a_failure(scale, tmp_path, monkeypatch):
    """The failure is in the folder of the figures: beside the page at full size, otherwise in target/bench."""
    monkeypatch.setattr(report, "FIGURES", tmp_path / "full")
    monkeypatch.setattr(report, "RESULTS", tmp_path / "less")
    options = Namespace(scale=scale, repeats=1, engine="sail")
    folder = report.folder_of(options)
    with pytest.raises(SystemExit):
        one_part.run_or_explain("no_such_part", options)
    assert [file.name for file in tmp_path.iterdir()] == ["full" if scale == 1 else "less"]
    assert "ModuleNotFoundError" in json.loads((folder / "no_such_part-sail-failed.json").read_text())["error"]
    report.save(report.Run("no_such_part", "sail", scale, 1), [], [], folder)
    assert [file.name for file in folder.iterdir()] == ["no_such_part-sail.json"]


def test_the_page_in_the_repository_is_that_of_its_figures(tmp_path):
    """The page was not edited by hand."""
    page.write(out=tmp_path)
    assert (tmp_path / "README.md").read_text() == (page.DOCS / "README.md").read_text()
