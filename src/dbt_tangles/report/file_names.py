"""Shortens paths of log files in texts of a report to file names: a report names no folder of the machine."""

import re

from dbt_tangles.cli.tables import Tables

_TABLES = ("ssb_rejects", "pzp_rejects", "autobase_rejects", "timeline_rejects", "timeline_events")
_MOST_FOLDERS = 200


def file_name(path: str) -> str:
    """Return the last part of a file's path."""
    return path.rstrip("/").rpartition("/")[2]


class FileNames:
    """The folders of the log files that tables name."""

    def __init__(self, tables: Tables) -> None:
        of_each = (
            f"select regexp_extract(source_file, '^(.*/)[^/]', 1) as folder from {name}"
            for name in _TABLES
            if tables.has(name)
        )
        rows = tables.rows(
            f"""select distinct folder from ({" union all ".join([*of_each, "select ''"])}) as named(folder)
            where len(folder) > 1 order by len(folder) desc, folder limit {_MOST_FOLDERS}"""
        )
        self._folders = re.compile("|".join(re.escape(row["folder"]) for row in rows) or r"(?!)")

    def shorten(self, text: str) -> str:
        """Return a text without the folders of log files."""
        return self._folders.sub("", text)

    def shorten_lines(self, lines: list[list]) -> list[list]:
        """Return the lines of an answer without the folders of log files."""
        return [
            [
                indent,
                *(self.shorten(each) if isinstance(each, str) else (self.shorten(each[0]), each[1]) for each in pieces),
            ]
            for indent, *pieces in lines
        ]
