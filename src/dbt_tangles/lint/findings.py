"""Judges the files of logs, each by the rules of its kind, and yields the findings by file and line."""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from dbt_tangles.cli.tables import CommandError
from dbt_tangles.formats.json.parse import LineError, LineReasons, parse_object
from dbt_tangles.ingest.line_checks import DIGEST, MAX_LINE_BYTES
from dbt_tangles.ingest.line_format import Reading
from dbt_tangles.lint import log_files
from dbt_tangles.lint.log_files import LogFile
from dbt_tangles.lint.log_kinds import KINDS, SSB
from dbt_tangles.lint.rules import check_lines

#: Equal lines of a file up to this number have a finding each, as in merge_equal_rejects.sql.
MOST_EQUAL = 100
# One more than this number shows that the findings of equal lines are merged; the first of them may be no finding.
_KEPT = MOST_EQUAL + 1
_LEFT_OUT = pa.schema([("source_file", pa.string()), DIGEST, ("copies", pa.int64())])
_FOUND = """create table found (source_file varchar, line bigint, line_digest blob, reason varchar, detail varchar,
    id varchar, line_count bigint)"""
_MERGED = f"""with numbered as (
    select found.*, row_number() over (partition by source_file, reason, line_digest order by line) as number,
        count(*) over (partition by source_file, reason, line_digest) + coalesce(copies, 0) as equal_lines
    from found left join left_out using (source_file, line_digest)
)
select source_file, line, reason, detail, id,
    if(line_digest is not null and equal_lines > {MOST_EQUAL}, equal_lines, line_count) as line_count
from numbered where line_digest is null or equal_lines <= {MOST_EQUAL} or number = 1
order by source_file, line, reason, detail nulls first, id nulls first"""
_ROWS = 10_000


class EqualLines:
    """The copies of lines that are left out, and their number `count`."""

    def __init__(self) -> None:
        self.count = 0
        self._counts: Counter[tuple[str, bytes]] = Counter()

    def leave_out(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pass on the first copies of each line of batches of `LINE_SCHEMA`, each of one file."""
        for batch in batches:
            lines = batch.column("raw").dictionary_encode()
            if lines.null_count or len(lines) - len(lines.dictionary) < _KEPT:
                yield batch
                continue
            codes = lines.indices.to_numpy()
            sizes = np.bincount(codes)
            ranks = np.empty(len(codes), np.int64)
            ranks[np.argsort(codes, kind="stable")] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            file = batch.column("source_file")[0].as_py()
            for code in np.flatnonzero(sizes > _KEPT):
                copies = int(sizes[code]) - _KEPT
                self._counts[file, hashlib.sha256(lines.dictionary[code].as_py()).digest()] += copies
                self.count += copies
            yield batch.filter(pa.array(ranks < _KEPT))

    def write(self, database: duckdb.DuckDBPyConnection) -> None:
        """Write the number of copies by file and digest into the table `left_out`."""
        rows = [{"source_file": file, "line_digest": digest, "copies": n} for (file, digest), n in self._counts.items()]
        database.register("left_out", pa.Table.from_pylist(rows, _LEFT_OUT))


class Finding(NamedTuple):
    """A finding."""

    file: str  # The file, as the user names it
    line: int  # The line, from 1; objects count where blank lines separate them
    kind: str  # The kind of the log
    reason: str  # A code of `dbt_tangles.reasons`
    detail: str | None  # More about this line, if the check states it
    id: str | None  # The id of the message, node or event, if it is known
    line_count: int  # The number of equal lines or of messages that the finding stands for


class Judged(NamedTuple):
    """The files of one kind of log, the number of their lines, and their findings."""

    kind: str
    files: Sequence[str]
    lines: int
    findings: Iterator[Finding]


def group_by_kind(files: Sequence[LogFile], reading: Reading, kind: str | None) -> dict[str, list[LogFile]]:
    """Group files by the kind of their logs, which is recognised by their content unless it is given.

    A file whose lines tell no kind, such as a damaged one, belongs to the kind of the others.

    Raises:
        CommandError: The kinds of all files are unknown, or a file cannot be read.
    """
    kinds = {file: kind or log_files.kind_of(file, reading) for file in dict.fromkeys(files)}
    known = [each for each in kinds.values() if each]
    if not known:
        raise _unknown_kind(files, reading)
    by_kind: dict[str, list[LogFile]] = {}
    for file, each in kinds.items():
        by_kind.setdefault(each or max(set(known), key=known.count), []).append(file)
    return by_kind


def _unknown_kind(files: Sequence[LogFile], reading: Reading) -> CommandError:
    regular = [file for file in files if os.path.isfile(file.path)]
    file = next((each for each in regular if os.path.getsize(each.path)), None)
    if file is None:
        return CommandError(f"{regular[0].name}: the file is empty; name a log with lines, or its kind with --kind")
    fault = None
    if line := log_files.first_line(file, reading):
        try:
            parse_object(line, len(line), reading.max_bytes, LineReasons("", "", "", "", None))
        except LineError as error:
            fault = error.args[1]
    cause = f" (the first: {fault})" if fault else ""
    return CommandError(
        f"{file.name}: its lines are of an unknown kind{cause}; name the kind with --kind {'|'.join(KINDS)}"
    )


def judge(
    kind: str, files: Sequence[LogFile], reading: Reading, tell: Callable[[str, int], None] = lambda step, done: None
) -> Judged:
    """Judge the files of one kind as one log; `tell` gets the file's name and the number of lines that were read.

    Raises:
        CommandError: A file cannot be read.
        ValueError: The network key in the environment is not valid.
    """
    database = open_database()
    equal = EqualLines()
    lines = equal.leave_out(read_files(files, reading, tell))
    count = check_lines(database, kind, log_files.with_digests(lines, reading.max_bytes)) + equal.count
    equal.write(database)
    return Judged(kind, [file.name for file in files], count, _findings(database, kind))


def open_database() -> duckdb.DuckDBPyConnection:
    """Open a database in memory with the empty table `found`, for `rules.check_lines`."""
    database = duckdb.connect(":memory:", config={"autoinstall_known_extensions": False, "temp_directory": ""})
    database.execute(_FOUND)
    return database


def read_files(
    files: Sequence[LogFile], reading: Reading, tell: Callable[[str, int], None]
) -> Iterator[pa.RecordBatch]:
    """Stream the lines of files, in batches of `LINE_SCHEMA`; `tell` as in `judge`."""
    count = 0
    for file in files:
        for batch in log_files.read_lines(file, reading):
            yield batch
            count += len(batch)
            tell(file.name, count)


def _findings(database: duckdb.DuckDBPyConnection, kind: str) -> Iterator[Finding]:
    cursor = database.execute(_MERGED)
    while rows := cursor.fetchmany(_ROWS):
        for file, line, reason, detail, id_, line_count in rows:
            yield Finding(file, line, kind, reason, detail, id_, line_count)


def reading_of(kind: str | None, is_pretty: bool) -> Reading:
    """Return how the lines of a log are read; only SSB logs may separate objects by blank lines."""
    return Reading(MAX_LINE_BYTES, "\n\n" if is_pretty and kind in (None, SSB) else "\n")
