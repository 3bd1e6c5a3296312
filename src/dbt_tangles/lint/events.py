"""Findings in event logs: malformed lines, contradictions, repeated events and cycles, as in `timeline_rejects`.

`order_timelines` is the kernel of `int_timeline_order`; it admits the arrivals (ScuttleSort, section 2.2).
"""

from collections.abc import Iterator

import duckdb
import pyarrow as pa

from dbt_tangles.formats.events.verify_lines import verify_batches
from dbt_tangles.lint.line_table import store_lines

_KEPT = "select * from batch"

_ARRIVALS = """select timeline_id, event_id, causes, null::varchar[] as cause_kinds,
    null::varchar[] as left_out_causes, author, arrival, null::double as received_ms, null::varchar as refusal,
    source_file, line
from lines where reject_reason is null"""

_REJECTS = """insert into found
select source_file, line, line_digest, reject_reason, detail, event_id, 1 from lines where reject_reason is not null"""

_PLACED = """insert into found
select source_file, line, line_digest, placed.reason,
    case placed.reason
        when 'conflict' then 'other lines give the event other causes or another author'
        when 'duplicate' then 'the event arrived before'
        else 'the event would follow itself'
    end, event_id, 1
from placed inner join lines using (source_file, line, event_id) where placed.reason is not null"""


def check_lines(database: duckdb.DuckDBPyConnection, batches: Iterator[pa.RecordBatch]) -> int:
    """Verify the lines of event logs, and write the findings into the table `found`; see `ssb.check_lines`."""
    count = store_lines(database, verify_batches(batches), _KEPT)
    if not count:
        return 0
    database.execute(_REJECTS)
    if len(arrivals := pa.table(database.sql(_ARRIVALS))):
        database.register("placed", _admit(arrivals))
        database.execute(_PLACED)
    return count


def _admit(arrivals: pa.Table) -> pa.Table:
    # Imported here, because numba loads slowly and the other kinds of logs do not need it.
    from dbt_tangles.algorithms.timeline.order import order_timelines

    placed = pa.Table.from_batches(order_timelines(arrivals, batch_size=0))
    return placed.select(["source_file", "line", "event_id", "reason"])
