"""Names of people, of messages and of files, in place of ids and paths; logs may be hostile, so all are data only."""

import re

from dbt_tangles.cli.graph import label
from dbt_tangles.cli.page import Piece
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.report.parts import Kind, Part
from dbt_tangles.why.message import time_of

#: Titles of subjects without a message of words, by the status of their root.
_NO_WORDS = {"missing": "(the root is missing)", "sealed": "(encrypted)"}
_ID = re.compile(r"[@%&][A-Za-z0-9+/]{43}=\.\w+")
_TABLES = ("ssb_rejects", "pzp_rejects", "autobase_rejects", "timeline_rejects", "timeline_events")
_MOST_FOLDERS = 200


class People:
    """The last `names` that authors gave to themselves."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.names = {row["author"]: row["author_name"] for row in tables.rows(query("author_names"))}

    def name_of(self, author: str | None) -> str:
        """Return an author's name, or else the beginning of the id."""
        return self.names.get(author or "") or (label(author) if author else "author not known")

    def name_ids(self, text: str) -> str:
        """Shorten the ids in a text, with the names of authors before theirs."""
        return _ID.sub(lambda found: " ".join((self.names.get(found[0], ""), label(found[0]))).strip(), text)

    def name_all(self, kinds: dict[str, Kind]) -> None:
        """Give subjects, nodes, lanes and members the names of people and the first words of messages."""
        parts = [(name, part) for name, kind in kinds.items() for part in kind.parts]
        asked = {query.id for _, part in parts for query in part.queries.values() if query.kind == "message"}
        asked |= {part.root for _, part in parts if part.root}
        rows = {row["message_id"]: row for row in self._tables.rows(query("message_titles"), ids=sorted(asked))}
        for name, part in parts:
            self._name_part(name, part, rows)
        # The page opens on a timeline that plays, and of these on one with words.
        kinds["timeline"].parts.sort(key=lambda part: (not part.view["edits"], part.entry["title"].startswith("(")))

    def _name_part(self, kind: str, part: Part, rows: dict[str, dict]) -> None:
        if part.root:
            root = rows.get(part.root)
            part.entry |= {
                "title": words_of(root) if root else _NO_WORDS.get(part.root_status or "", "(no words)"),
                "by": self.name_of(root["author"]) if root else None,
            }
        if kind == "group":
            part.entry["title"] = "private group"
        if kind == "feed":
            part.entry["title"] = self.name_of(part.entry["id"])
        for lane in part.view.get("lanes", ()):
            lane["name"] = self.names.get(lane["id"], lane["name"])
        for member in part.view.get("feeds", ()):
            member["label"] = self.name_of(member["id"])
        for n, asked in part.queries.items():
            if asked.kind == "message" and (row := rows.get(asked.id)):
                node, by = part.view["nodes"][n], self.name_of(row["author"])
                what = row["content_type"] or ("encrypted" if row["is_encrypted"] else "no type")
                node["words"] = node["words"].replace(f"by {label(row['author'] or '')}", f"by {by}", 1)
                node["by"] = by
                node["title"] = f"{what}, sequence {row['sequence']}{time_of(row['asserted_ms'])} · {by}"
                node["label"] = words_of(row) if kind != "group" else node["label"]


def words_of(row: dict) -> str:
    """Return the first words of a message, or in parentheses the reason why it has none."""
    if row["first_words"]:
        return row["first_words"]
    return f"({row['content_type'] or ('encrypted' if row['is_encrypted'] else 'no words')})"


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

        def shorten(piece: Piece) -> Piece:
            return self.shorten(piece) if isinstance(piece, str) else (self.shorten(piece[0]), piece[1])

        return [[indent, *map(shorten, pieces)] for indent, *pieces in lines]
