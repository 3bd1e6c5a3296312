"""Runs every command of `tangles` on the ids, names and lines in the tables of a warehouse.

    asked = Warehouse(built, folder)
    @given(asked.questions())
    def test(question): asked.ask(*question)

Hypothesis draws the questions. Ids are whole, truncated, or in a form that users paste.
"""

import json
from pathlib import Path
from urllib.parse import quote

import duckdb
from hypothesis import strategies as st

from conftest import DbtProject

Texts = st.SearchStrategy[str]

#: Ids: the kind that `tangles why` gives them, their table and their column.
_IDS = [
    ("message", "ssb_messages", "message_id"),
    ("message", "tangle_missing", "missing_id"),
    ("message", "ssb_rejects", "claimed_key"),
    ("pzp", "pzp_messages", "message_id"),
    ("node", "autobase_nodes", "node_id"),
    ("node", "autobase_rejects", "node_id"),
    ("event", "timeline_events", "event_id"),
    ("event", "timeline_rejects", "event_id"),
]
_SUBJECTS = [
    ("tangle", "tangles", "tangle_name || ':' || root_id"),
    ("feed", "feeds", "author"),
    ("set", "sets", "set_id"),
    ("group", "group_epochs", "group_id"),
    ("base", "autobase_bases", "base_id"),
    ("timeline", "timeline_stats", "timeline_id"),
]
_REJECTS = ("ssb_rejects", "pzp_rejects", "autobase_rejects", "timeline_rejects")
#: Statements of a peer: the table of subjects, the keys with their columns, and the types of the values.
_SAID = [
    ("ssb_messages", {"message": "message_id"}, {"valid": "truth"}),
    ("feeds", {"feed": "author"}, {"sequence": "number", "id": "id"}),
    ("tangles", {"root": "root_id", "tangle": "tangle_name"}, {"previous": "ids", "members": "number"}),
    ("group_epochs", {"epoch": "epoch_id"}, {"members": "ids"}),
    ("group_epochs", {"group": "group_id"}, {"preferred": "id"}),
    ("sets", {"set": "set_id"}, {"items": "ids", "prev": "ids", "depth": "number"}),
    ("autobase_bases", {"base": "base_id"}, {"length": "number", "confirmed": "number"}),
    ("autobase_views", {"view": "base_id", "observer": "observer"}, {"order": "ids"}),
    ("timeline_stats", {"timeline": "timeline_id"}, {"order": "ids"}),
]
_NUMBERS = st.integers() | st.sampled_from([-1, 0, 2**31 - 1, 2**31, 2**63, 10**40, -(10**40)])
_FORM = st.sampled_from(["text", "dot", "mermaid"])
_GATE = st.sampled_from(["rejects=3,forks", "set_aside", "failed_run=1"])
_JSON = st.sampled_from([[], "--json"])


class Warehouse:
    """A built warehouse, and Hypothesis strategies for commands on it."""

    def __init__(self, built: DbtProject, out: Path) -> None:
        self.built, self.out = built, out
        self.folder = built.warehouse / f"{built.schema}.db"

    def questions(self) -> st.SearchStrategy[tuple[list[str], str]]:
        """Draw the arguments of a command, and its standard input."""
        ids = [(kind, self._texts(table, column)) for kind, table, column in _IDS]
        subjects = [(kind, self._texts(table, column)) for kind, table, column in _SUBJECTS]
        any_id = st.one_of(each for _, each in ids)
        any_text = st.one_of(any_id, st.text(max_size=20), *(each for _, each in subjects))
        lines = [f"{file}:{line}" for table in _REJECTS for file, line in self._rows(table, "source_file, line")]
        words = [
            *(_words("why", "--kind", kind, _JSON, "--", each) for kind, each in ids),
            _words("why", _JSON, "--", any_text),
            _words("why", _JSON, any_text.map("--in={}".format), "--", any_id),
            _words("why", _JSON, "--", _one_of(lines)),
            *(_words("show", "--kind", kind, "--format", _FORM, "--", each) for kind, each in subjects),
            _words("show", "--", any_text),
            _words("status", _JSON),
            _words("status", _JSON, "--fail-on", _GATE),
            _words("send", "--ask", _JSON),
            _words("sql", _JSON, "--", any_text.map(_query)),
        ]
        questions = [st.tuples(each, st.just("")) for each in words]
        known = st.dictionaries(any_text, st.integers(0, 9), max_size=4) | st.lists(any_text, max_size=4)
        send = _words("send", "--to", "-", _JSON, st.sampled_from([[], "--ask"]))
        questions.append(st.tuples(send, known.map(json.dumps)))
        questions.append(st.tuples(_words("check", "-"), self._answers(any_id)))
        return st.one_of(questions)

    def ask(self, words: list[str], text: str = ""):
        """Run a command; assert that it answers, or fails with an error of `tangles`."""
        options = ["--out", str(self.out)] if words[0] == "report" else []
        result = self.built.ask(words[0], *options, *words[1:], input=text)
        assert result.exception is None or isinstance(result.exception, SystemExit), (words, result.exception)
        assert result.exit_code in (0, 1, 2)
        assert f"{self.folder.name}: " not in result.stderr, (words, result.stderr)  # as database errors begin
        return result

    def _rows(self, table: str, columns: str) -> list[tuple]:
        files = f"{self.folder}/{table}/*.parquet"
        with duckdb.connect() as connection:
            rows = connection.sql(f"select distinct {columns} from read_parquet('{files}') order by all").fetchall()
        return [row for row in rows if None not in row]

    def _texts(self, table: str, column: str) -> Texts:
        """Draw values of a column, most of them unchanged."""
        found = [value for (value,) in self._rows(table, column)] or ["%none"]
        pasted = st.sampled_from([str, str, str, lambda id_: id_[:7], quote, "<{}>".format])
        return st.tuples(_one_of(found), pasted).map(lambda both: both[1](both[0]))

    def _answers(self, any_id: Texts) -> Texts:
        """Draw statements of a peer."""
        drawn = {"number": _NUMBERS, "id": any_id, "ids": st.lists(any_id, max_size=5), "truth": st.booleans()}
        lines = []
        for table, keys, says in _SAID:
            known = [dict(zip(keys, row, strict=True)) for row in self._rows(table, ", ".join(keys.values()))]
            said = st.fixed_dictionaries({}, optional={name: drawn[each] for name, each in says.items()})
            lines.append(st.tuples(_one_of(known or [dict.fromkeys(keys, "x")]), said))
        one = st.one_of(lines).map(lambda both: json.dumps(both[0] | both[1]))
        return st.lists(one, max_size=8).map("\n".join)


def _query(text: str) -> str:
    """Write a query that has a text of the log as a value and as a name."""
    quoted, name = text.replace("'", "''"), text.replace('"', '""')
    return f"select author, '{quoted}' as \"{name}\" from feeds where author >= '{quoted}'"


def _one_of(values: list) -> st.SearchStrategy:
    """Draw one of many values; a failure prints only the drawn value."""
    return st.integers(0, len(values) - 1).map(lambda n: values[n])


def _words(*parts: str | Texts) -> st.SearchStrategy[list[str]]:
    """Draw the words of a command; an option that may be absent draws an empty list instead of its word."""
    drawn = [st.just(part) if isinstance(part, str) else part for part in parts]
    return st.tuples(*drawn).map(lambda words: [word for word in words if word != []])
