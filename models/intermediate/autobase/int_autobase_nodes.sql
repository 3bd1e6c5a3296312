{{ config(enabled=has_log('autobase_log')) }}

{#- Equal lines of one node are one row. Two different nodes of one writer and length are an equivocation: both are set
    aside, with every node that follows them. -#}
with distinct_nodes as (
    select
        base_id,
        writer,
        length,
        struct(heads, batch, value, is_ack) as content,
        row_number() over (
            partition by base_id, writer, length order by heads asc, batch asc, value asc, is_ack asc
        ) as version_number,
        count(*) as line_count
    from {{ ref('stg_autobase__lines') }}
    where kind = 'node' and reject_reason is null and {{ is_changed('base_id', ref('int_base_versions')) }}
    group by base_id, writer, length, heads, batch, value, is_ack
),

nodes as (
    select
        base_id,
        writer,
        length,
        count(*) > 1 as is_equivocation,
        sum(line_count) as line_count,
        any_value(content) filter (where version_number = 1) as content
    from distinct_nodes
    group by base_id, writer, length
),

placed as (
    select
        nodes.*,
        bases.base_id is not null as has_base,
        coalesce(array_contains(bases.indexers, nodes.writer), false) as is_indexer,
        coalesce(array_contains(bases.relayed, nodes.writer), false) as is_relayed,
        coalesce(log_starts.start_length, 0) as start_length,
        lag(nodes.length) over (partition by nodes.base_id, nodes.writer order by nodes.length) as length_before,
        lag(nodes.content.batch) over (partition by nodes.base_id, nodes.writer order by nodes.length) as batch_before
    from nodes
    left join {{ ref('int_autobase_bases') }} as bases on nodes.base_id = bases.base_id
    left join {{ ref('int_autobase_starts') }} as log_starts
        on nodes.base_id = log_starts.base_id and nodes.writer = log_starts.writer
)

select
    placed.base_id,
    concat(placed.writer, ':', placed.length) as node_id,
    placed.writer,
    placed.length,
    placed.content.heads,
    placed.content.batch,
    placed.content.value,
    placed.content.is_ack,
    placed.line_count,
    case
        when placed.is_indexer then 'indexing'
        when placed.is_relayed then 'relayed'
        else 'non_indexing'
    end as role,
    placed.start_length,
    case
        when not placed.has_base then 'unknown_base'
        when placed.length <= placed.start_length then 'before_start'
        when placed.is_equivocation then 'equivocation'
        when placed.length - 1 > placed.start_length and not placed.length_before <=> placed.length - 1 then 'hole'
        when
            placed.length - 1 > placed.start_length
            and placed.batch_before > 1
            and placed.content.batch <> placed.batch_before - 1
            then 'bad_batch'
    end as defect
from placed
