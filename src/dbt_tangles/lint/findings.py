"""Judges the files of logs, each by the rules of its kind, and yields the findings by file and line."""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from dbt_tangles.cli.tables import SETTINGS, CommandError
from dbt_tangles.formats.json.parse import LineError, LineReasons, parse_object
from dbt_tangles.ingest.line_checks import DIGEST, MAX_LINE_BYTES
from dbt_tangles.ingest.line_format import Reading
from dbt_tangles.lint import log_files
from dbt_tangles.lint.log_files import LogFile, texts_of
from dbt_tangles.lint.log_kinds import KINDS, SAMPLE, SSB, recognise
from dbt_tangles.lint.rules import SQL, check_lines

#: Equal lines of a file up to this number have a finding each, as in merge_equal_rejects.sql.
MOST_EQUAL = 100
# One more than this number shows that the findings of equal lines are merged; the first of them may be no finding.
_KEPT = MOST_EQUAL + 1
_LEFT_OUT = pa.schema([("source_file", pa.string()), DIGEST, ("copies", pa.int64())])
_ROWS = 10_000


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

    A file whose lines tell no kind, such as a damaged one, belongs to the most frequent kind, of several the first.
    """
    kinds = {file: kind or recognise(islice(texts_of(file, reading), SAMPLE)) for file in dict.fromkeys(files)}
    known = [each for each in kinds.values() if each]
    if not known:
        raise _unknown_kind(files, reading)
    usual = max(known, key=known.count)
    by_kind: dict[str, list[LogFile]] = {}
    for file, each in kinds.items():
        by_kind.setdefault(each or usual, []).append(file)
    return by_kind


def _unknown_kind(files: Sequence[LogFile], reading: Reading) -> CommandError:
    regular = [file for file in files if os.path.isfile(file.path)]
    file = next((each for each in regular if os.path.getsize(each.path)), None)
    if file is None:
        return CommandError(f"{regular[0].name}: the file is empty; name a log with lines, or its kind with --kind")
    fault = None
    if line := next(texts_of(file, reading), None):
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
    """Judge the files of one kind as one log; `tell` gets the file's name and the number of lines that were read."""
    database = duckdb.connect(":memory:", config=SETTINGS)
    left_out: Counter[tuple[str, bytes]] = Counter()
    lines = _leave_out_copies(read_files(files, reading, tell), left_out)
    count = check_lines(database, kind, log_files.with_digests(lines, reading.max_bytes)) + left_out.total()
    rows = [{"source_file": file, "line_digest": digest, "copies": n} for (file, digest), n in left_out.items()]
    database.register("left_out", pa.Table.from_pylist(rows, _LEFT_OUT))
    return Judged(kind, [file.name for file in files], count, _findings(database, kind))


def _leave_out_copies(
    batches: Iterator[pa.RecordBatch], left_out: Counter[tuple[str, bytes]]
) -> Iterator[pa.RecordBatch]:
    """Pass on the first copies of each line of batches of one file, and count the others by file and digest."""
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
            left_out[file, hashlib.sha256(lines.dictionary[code].as_py()).digest()] += int(sizes[code]) - _KEPT
        yield batch.filter(pa.array(ranks < _KEPT))


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
    cursor = database.execute(SQL["merged"], {"most": MOST_EQUAL})
    while rows := cursor.fetchmany(_ROWS):
        for file, line, reason, detail, id_, line_count in rows:
            yield Finding(file, line, kind, reason, detail, id_, line_count)


def reading_of(kind: str | None, is_pretty: bool) -> Reading:
    """Return how the lines of a log are read; only SSB logs may separate objects by blank lines."""
    return Reading(MAX_LINE_BYTES, "\n\n" if is_pretty and kind in (None, SSB) else "\n")
