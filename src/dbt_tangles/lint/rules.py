"""The rules of each kind of log: each line by the verifiers of builds, then rules about several lines in DuckDB.

The queries in `rules.sql` apply the rules of the models to the lines of some files: of `ssb_messages`, `ssb_rejects`,
`feeds`, `feed_messages`, `int_tangle_claims` and `group_messages`; of `int_autobase_bases` to `int_autobase_set_aside`
and `autobase_rejects`; of `pzp_rejects` and `timeline_rejects`. Chains, walks and orders come from the models' kernels.
"""

import importlib
from collections.abc import Iterator

import duckdb
import pyarrow as pa

from dbt_tangles.lint.log_kinds import AUTOBASE, EVENTS, PZP, SSB
from dbt_tangles.lint.records import append_malformed_fields
from dbt_tangles.queries import sections

SQL = sections(__file__)
Batches = Iterator[pa.RecordBatch]


def check_lines(database: duckdb.DuckDBPyConnection, kind: str, batches: Batches) -> int:
    """Verify the lines of logs of a kind, write the findings into the table `found`, and return the number of lines.

    Raises:
        ValueError: The network key in the environment is not valid.
    """
    database.execute(SQL["found"])
    count, kept = 0, SQL[f"{kind}_lines"]
    for batch in _verify(kind, batches):
        database.register("batch", pa.Table.from_batches([batch]))
        database.execute(f"insert into lines {kept}" if count else f"create table lines as {kept}")
        count += len(batch)
    if count:
        _CHECKS[kind](database)
    return count


def _run(database: duckdb.DuckDBPyConnection, *names: str) -> None:
    for name in names:
        database.execute(SQL[name])


# Verifiers and kernels are imported where they are needed, because numba loads slowly.
def _verify(kind: str, batches: Batches) -> Batches:
    module = importlib.import_module(f"dbt_tangles.formats.{kind}.verify_lines")
    if kind == SSB:
        from dbt_tangles.formats.ssb.options import hmac_key

        return append_malformed_fields(module.verify_batches(batches, module.VerifyOptions(hmac_key=hmac_key())))
    return module.verify_batches(batches, *([module.VerifyOptions()] if kind == PZP else []))


def _check_ssb(database: duckdb.DuckDBPyConnection) -> None:
    """Find colliding ids, messages outside of their chain (the classic feed tangle), malformed claims and fields."""
    from dbt_tangles.algorithms.feed.chains import Link, chain_batches
    from dbt_tangles.kernel_runtime.output import ROWS_PER_BATCH

    def links() -> Iterator[Link]:
        cursor = database.cursor().execute(SQL["ssb_links"])
        while rows := cursor.fetchmany(ROWS_PER_BATCH):
            yield from map(Link._make, rows)

    _run(database, "ssb_rejects", "ssb_messages", "ssb_claims")
    database.execute("create table chain (author varchar, sequence bigint, message_id varchar)")
    for batch in chain_batches(links()):
        database.register("batch", pa.Table.from_batches([batch]))
        database.execute("insert into chain select * from batch")
    _run(database, "ssb_feeds", "ssb_outside", "ssb_off_chain")


def _check_pzp(database: duckdb.DuckDBPyConnection) -> None:
    database.execute("insert into found from lines")


def _check_autobase(database: duckdb.DuckDBPyConnection) -> None:
    """Find conflicting bases, and nodes set aside by the walk of their base."""
    _run(database, "autobase_bases", "autobase_starts", "autobase_nodes")
    candidates = pa.table(database.sql(SQL["autobase_candidates"]))
    if len(candidates):
        from dbt_tangles.algorithms.graph.walk import walk

        candidates = pa.Table.from_batches(walk(candidates))
    else:
        candidates = candidates.append_column("set_aside_reason", pa.array([], pa.string()))
    database.register("walked", candidates)
    _run(database, "autobase_set_aside", "autobase_findings")


def _check_events(database: duckdb.DuckDBPyConnection) -> None:
    """Find contradictions, repeated events and cycles (ScuttleSort, section 2.2)."""
    from dbt_tangles.algorithms.timeline.order import order_timelines

    _run(database, "events_rejects")
    if len(arrivals := pa.table(database.sql(SQL["events_arrivals"]))):
        placed = pa.Table.from_batches(order_timelines(arrivals, batch_size=0))
        database.register("placed", placed.select(["source_file", "line", "event_id", "reason"]))
        _run(database, "events_placed")


_CHECKS = {SSB: _check_ssb, PZP: _check_pzp, AUTOBASE: _check_autobase, EVENTS: _check_events}
