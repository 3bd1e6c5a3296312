"""Builds a report: collects the subjects of each kind, their answers of `tangles why`, and writes the folder."""

from collections.abc import Callable
from pathlib import Path

from dbt_tangles import queries
from dbt_tangles.cli.duplicate_tangles import TablesOnce
from dbt_tangles.cli.missing_tables import lacking
from dbt_tangles.cli.page import Tell
from dbt_tangles.cli.tables import Tables
from dbt_tangles.report import glance, links, pages, search_index, subjects, timelines, why_answers
from dbt_tangles.report.folder import Folder
from dbt_tangles.report.names import FileNames, People
from dbt_tangles.report.parts import Kind, Limits, Part

#: The drawn kinds: the function that lays out a subject, a row of the query `KIND_subjects`, with some nodes at most.
KINDS: dict[str, Callable[[TablesOnce, dict, int], Part]] = {
    "tangle": subjects.tangle,
    "feed": subjects.feed,
    "set": subjects.set_,
    "base": subjects.base,
    "group": subjects.group,
    "timeline": timelines.part,
}
#: Further pages: the function that collects the data of each, with its number of entries as `total`, or None without
#: data; the page then has no tab. To add a page, add its function here, and its view to `PAGES` in assets/pages.js.
PAGES: dict[str, Callable[[Tables], dict | None]] = {
    "records": pages.collect_records,
    "rejects": pages.collect_rejects,
}


def build(tables: Tables, out: Path, limits: Limits, tell: Tell = lambda *_: None) -> Folder:
    """Write a report; if that fails, an older report in its place stays complete.

    `tell` is called with the kind of the current drawing, the number of drawings written and their total.
    """
    with Folder(out) as folder:
        once = TablesOnce(tables)
        people = People(tables)
        _write(folder, tables, once, people, limits, tell)
        search_index.write(once, folder, people.names)
        folder.publish()
    return folder


def _write(folder: Folder, tables: Tables, once: TablesOnce, people: People, limits: Limits, tell: Tell) -> None:
    glance_data, files = glance.collect(once), FileNames(tables)
    glance_data["look_at"] = links.add_links(glance_data["look_at"], files, people)
    folder.write("glance", glance_data)
    of_pages = {name: data for name, collect in PAGES.items() if (data := collect(tables))}
    for name, data in of_pages.items():
        folder.write(name, data)
    kinds = {}
    for name, lay_out in KINDS.items():
        rows = once.rows(queries.query(f"{name}_subjects"), subjects=limits.subjects)
        kinds[name] = Kind(rows[0]["total"] if rows else 0, [lay_out(once, row, limits.nodes) for row in rows])
    people.name_all(kinds)
    for number, thread in enumerate(pages.collect_threads(tables, kinds["tangle"], limits.nodes, people)):
        folder.write(f"tangle-{number}-read", thread)
    answers = links.answers_of(tables, glance_data["look_at"], files)
    folder.write("places", {"drawn": links.places_of(kinds), "answers": answers})
    tables.rows("set threads = 1")  # One thread is faster for many small queries.
    asked = [query for kind in kinds.values() for part in kind.parts for query in part.queries.values()]
    told = {query: files.shorten_lines(lines) for query, lines in why_answers.answers_of(tables, asked).items()}
    drawn = [(name, number, part) for name, kind in kinds.items() for number, part in enumerate(kind.parts)]
    for done, (name, number, part) in enumerate(drawn, 1):
        folder.write(f"{name}-{number}", part.view)
        folder.write(f"{name}-{number}-why", {n: told[query] for n, query in sorted(part.queries.items())})
        tell(f"drawing each {name}", done, len(drawn))
    folder.write("queries", {name: queries.text_of(name) for name in queries.names()}, is_clean=True)
    folder.write(
        "index",
        {
            "built": glance_data["runs"][0]["started_at"] if glance_data["runs"] else None,
            "missing": lacking(tables),
            "queries": queries.by_place(),
            "places": links.places(),
            "pages": {name: data["total"] for name, data in of_pages.items()},
            "kinds": {
                name: {"total": kind.total, "parts": [part.entry for part in kind.parts]}
                for name, kind in kinds.items()
            },
        },
    )
