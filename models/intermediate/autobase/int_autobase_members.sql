{{ config(enabled=has_log('autobase_log')) }}

{#- The lists of a base's writers stand on one of its rows: on every row they would take writers x nodes of space. -#}
with indexer_logs as (
    select
        log_starts.base_id,
        struct(log_starts.writer, log_starts.start_length as length) as log
    from {{ ref('int_autobase_starts') }} as log_starts
    inner join {{ ref('int_autobase_bases') }} as bases
        on log_starts.base_id = bases.base_id and array_contains(bases.indexers, log_starts.writer)
),

start_lengths as (
    select
        base_id,
        sort_array(collect_list(log)) as start
    from indexer_logs
    group by base_id
),

walked as (
    select
        *,
        row_number() over (partition by base_id order by node_id) = 1 as is_first
    from {{ ref('int_autobase_walk') }}
    where set_aside_reason is null and node_id <> ''
)

select
    nodes.base_id,
    nodes.node_id,
    nodes.writer,
    nodes.length,
    -- The root of a base has an empty id and is left out.
    filter(walked.previous, followed -> followed <> '') as previous,
    nodes.batch,
    nodes.value,
    nodes.is_ack,
    nodes.role,
    nodes.role = 'relayed' as is_relayed,
    walked.depth - 1 as depth,
    walked.child_count,
    bases.indexers,
    start_lengths.start
from walked
inner join {{ ref('int_autobase_nodes') }} as nodes
    on walked.base_id = nodes.base_id and walked.node_id = nodes.node_id
left join {{ ref('int_autobase_bases') }} as bases on walked.is_first and walked.base_id = bases.base_id
left join start_lengths on walked.is_first and walked.base_id = start_lengths.base_id
