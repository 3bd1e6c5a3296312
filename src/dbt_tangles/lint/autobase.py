"""Findings in Autobase logs: lines, conflicting bases, and nodes set aside by the walk of their base.

The queries apply the rules of `int_autobase_bases`, `int_autobase_starts`, `int_autobase_nodes`,
`int_autobase_candidates`, `int_autobase_set_aside` and `autobase_rejects`; `walk` is the kernel of
`int_autobase_walk`.
"""

from collections.abc import Iterator

import duckdb
import pyarrow as pa

from dbt_tangles.formats.autobase.verify_lines import verify_batches
from dbt_tangles.lint.line_table import store_lines

_KEPT = "select *, writer || ':' || length as node_id from batch"

_BASES = """create table bases as select base_id, indexers, relayed, start
from lines where kind = 'base' and reject_reason is null
qualify row_number() over (
    partition by base_id order by indexers nulls first, relayed nulls first, start nulls first) = 1"""

_STARTS = """create table starts as
with stated as (
    select base_id, entry.writer as writer, entry.length as start_length
    from (select base_id, unnest(start) as entry from bases)
)
from stated
union all
select base_id, lines.writer, if(any_value(bases.start) is null, 0, min(lines.length) - 1)
from lines inner join bases using (base_id)
where kind = 'node' and reject_reason is null
    and struct_pack(a := base_id, b := lines.writer) not in (select struct_pack(a := base_id, b := writer) from stated)
group by base_id, lines.writer"""

_NODES = """create table nodes as
with versions as (
    select base_id, writer, length, heads, batch, row_number() over (
        partition by base_id, writer, length
        order by heads nulls first, batch nulls first, value nulls first, is_ack nulls first) as version
    from lines where kind = 'node' and reject_reason is null
    group by base_id, writer, length, heads, batch, value, is_ack
),
nodes as (
    select base_id, writer, length, count(*) > 1 as is_equivocation,
        min_by(heads, version) as heads, min_by(batch, version) as batch
    from versions group by base_id, writer, length
),
placed as (
    select nodes.*, bases.base_id is not null as has_base, coalesce(start_length, 0) as start_length,
        lag(length) over log as length_before, lag(batch) over log as batch_before
    from nodes left join bases on nodes.base_id = bases.base_id
    left join starts on nodes.base_id = starts.base_id and nodes.writer = starts.writer
    window log as (partition by nodes.base_id, nodes.writer order by length)
)
select base_id, writer || ':' || length as node_id, writer, length, heads, batch, start_length, case
    when not has_base then 'unknown_base'
    when length <= start_length then 'before_start'
    when is_equivocation then 'equivocation'
    when length - 1 > start_length and length_before is distinct from length - 1 then 'hole'
    when length - 1 > start_length and batch_before > 1 and batch <> batch_before - 1 then 'bad_batch' end as defect
from placed"""

# As in the model, the root '' stands for everything before the log.
_CANDIDATES = """with links as (
    select base_id, node_id, head.writer as writer, head.length as length
    from (select base_id, node_id, unnest(heads) as head from nodes)
),
followed as (
    select links.base_id, links.node_id, list(links.writer || ':' || links.length) as previous,
        bool_or(coalesce(nodes.batch > 1, false)) as splits_batch
    from links left join nodes on links.base_id = nodes.base_id and links.writer = nodes.writer
        and links.length = nodes.length
    left join starts on links.base_id = starts.base_id and links.writer = starts.writer
    where links.length > coalesce(starts.start_length, 0) group by links.base_id, links.node_id
)
select 'autobase' as graph_kind, nodes.base_id as graph_id, nodes.node_id, list_distinct(list_concat(
        [if(length - 1 > start_length, writer || ':' || (length - 1), '')], previous)) as previous,
    false as is_root, coalesce(defect, if(splits_batch, 'bad_batch', null)) as claim_error,
    null::double as asserted_ms, null::double as received_ms
from nodes left join followed on nodes.base_id = followed.base_id and nodes.node_id = followed.node_id
union all
select 'autobase', base_id, '', []::varchar[], true, null, null, null from bases"""

_SET_ASIDE = """create table set_aside as
with followed as (
    select graph_id, node_id, unnest(previous) as id from walked where set_aside_reason = 'missing_previous'
),
missing as (
    select followed.graph_id, followed.node_id, bool_or(nodes.node_id is null) as has_missing_head,
        bool_or(nodes.node_id is null and starts.writer is null) as has_unknown_writer
    from followed
    left join nodes on followed.graph_id = nodes.base_id and followed.id = nodes.node_id
    left join starts on followed.graph_id = starts.base_id and split_part(followed.id, ':', 1) = starts.writer
    where followed.id <> '' group by followed.graph_id, followed.node_id
)
select walked.graph_id as base_id, walked.node_id, case
    when has_unknown_writer then 'unknown_writer'
    when has_missing_head then 'missing_head'
    when set_aside_reason = 'missing_previous' then 'previous_set_aside' else set_aside_reason end as reason
from walked left join missing on walked.graph_id = missing.graph_id and walked.node_id = missing.node_id
where set_aside_reason is not null"""

_FINDINGS = """insert into found
select source_file, line, line_digest, reject_reason, detail, node_id, 1 from lines where reject_reason is not null
union all
select source_file, line, line_digest, reason, null, lines.node_id, 1
from lines inner join set_aside on lines.base_id = set_aside.base_id and lines.node_id = set_aside.node_id
where reject_reason is null and kind = 'node'
union all
select source_file, line, line_digest, 'conflicting_base', 'another line says something else about this base', null, 1
from lines inner join bases on lines.base_id = bases.base_id
where reject_reason is null and kind = 'base'
    and struct_pack(a := lines.indexers, b := lines.relayed, c := lines.start)
    is distinct from struct_pack(a := bases.indexers, b := bases.relayed, c := bases.start)"""


def check_lines(database: duckdb.DuckDBPyConnection, batches: Iterator[pa.RecordBatch]) -> int:
    """Verify the lines of Autobase logs, and write the findings into the table `found`; see `ssb.check_lines`."""
    count = store_lines(database, verify_batches(batches), _KEPT)
    if not count:
        return 0
    for query in (_BASES, _STARTS, _NODES):
        database.execute(query)
    database.register("walked", _walk(pa.table(database.sql(_CANDIDATES))))
    for query in (_SET_ASIDE, _FINDINGS):
        database.execute(query)
    return count


def _walk(candidates: pa.Table) -> pa.Table:
    if not len(candidates):
        return candidates.append_column("set_aside_reason", pa.array([], pa.string()))
    # Imported here, because numba loads slowly and only logs with nodes need it.
    from dbt_tangles.algorithms.graph.walk import walk

    return pa.Table.from_batches(walk(candidates))
