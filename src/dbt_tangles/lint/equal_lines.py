"""Counts most copies of a line instead of judging them: in builds, many equal rejected lines of a file share a row."""

import hashlib
from collections import Counter
from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa

from dbt_tangles.ingest.line_checks import DIGEST

#: Equal lines of a file up to this number have a finding each, as in merge_equal_rejects.sql.
MOST_EQUAL = 100
# One more than this number shows that the findings of equal lines are merged; the first of them may be no finding.
_KEPT = MOST_EQUAL + 1


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
        files, digests = zip(*self._counts, strict=True) if self._counts else ((), ())
        database.register(
            "left_out",
            pa.table(
                {
                    "source_file": pa.array(files, pa.string()),
                    "line_digest": pa.array(digests, DIGEST.type),
                    "copies": pa.array(self._counts.values(), pa.int64()),
                }
            ),
        )
