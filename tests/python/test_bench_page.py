"""The page of figures shows the content of the files, and only that."""

import json

from bench import page, report

MACHINE = {"processor": "A `processor` | b", "cores": 2, "load_average": [1.5, 2, 3], "revision": "0123abcdef+"}
LIMIT = {"cpu_s": 4.0, "wall_s": 3.0}


def put(folder, part, results=(), goals=(), engine="spark"):
    """Write a file as a benchmark does."""
    told = {"date": "2026-11-23T06:58:11+00:00", "scale": 1.0, "goals": goals, "results": results}
    told["machine"] = MACHINE | {"versions": {"pyspark": "4.3.0"}}
    report.path_of(part, engine, folder).write_text(json.dumps(told))


def made(folder):
    """Return the lines of the page of the files in a folder."""
    return page.write(folder, folder / "page.md").read_text().splitlines()


def goal(measured, met):
    return {"what": "many / LIMIT", "goal": "at most 2", "measured": measured, "met": met}


def test_engines_stand_side_by_side(tmp_path):
    row = {"model": "int_set_messages", "shape": "many", "rows": 1_000_000, "limit": LIMIT}
    put(tmp_path, "limit", [row | {"found": {"cpu_s": 6.0, "wall_s": 7.25}}], [goal(1.5, True)])
    put(tmp_path, "limit", [row | {"found": {"cpu_s": 9.0, "wall_s": 7.25}}], [goal(2.25, False)], engine="sail")
    lines = made(tmp_path)
    assert "| many / LIMIT | at most 2 | 1.5, met | 2.25, **missed** |" in lines
    assert "| engine | model | input | rows | CPU s | clock, s | LIMIT, CPU s | / LIMIT |" in lines
    assert "| Spark | int_set_messages | many | 1,000,000 | 6 | 7.25 | 4 | 1.5 |" in lines
    assert "| Sail | int_set_messages | many | 1,000,000 | 9 | 7.25 | 4 | 2.25 |" in lines


def test_parts_that_were_not_measured_or_failed_are_named(tmp_path):
    put(tmp_path, "sets", [{"part": "kernel", "messages": 7, "cpu_s": 1.0}], [goal(1, None)])
    told = {"date": "2026-11-24", "revision": "0123", "error": "a | <b> `c`"}
    report.path_of("limit", "sail", tmp_path, failed=True).write_text(json.dumps(told))
    lines = made(tmp_path)
    assert r"| limit on Sail | failed 2026-11-24, commit 0123: a \| \<b\> \`c\` |  |  |  |  |" in lines
    assert "| limit on Spark | not measured |  |  |  |  |" in lines
    assert r"| sets | 2026-11-23 | `0123abcdef+` | A \`processor\` \| b, 2 cores, load 1.5 | 4.3.0 | 0 of 0 |" in lines


def test_the_page_in_the_repository_is_that_of_its_figures(tmp_path):
    """The page was not edited by hand."""
    assert page.write(page=tmp_path / "page.md").read_text() == page.PAGE.read_text()
