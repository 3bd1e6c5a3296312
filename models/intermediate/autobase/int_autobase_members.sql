{#- What a base says of its writers stands on one of its rows: with as many writers as nodes it would be a square. -#}
with indexer_logs as (
    select
        beginnings.base_id,
        struct(beginnings.writer, beginnings.start_length as length) as log
    from {{ ref('int_autobase_starts') }} as beginnings
    inner join {{ ref('int_autobase_bases') }} as bases
        on beginnings.base_id = bases.base_id and array_contains(bases.indexers, beginnings.writer)
),

floors as (
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
    -- The base's root is no node.
    filter(walked.previous, followed -> followed <> '') as previous,
    nodes.batch,
    nodes.value,
    nodes.is_ack,
    nodes.role,
    nodes.role = 'relayed' as is_relayed,
    walked.depth - 1 as depth,
    walked.child_count,
    bases.indexers,
    floors.start
from walked
inner join {{ ref('int_autobase_nodes') }} as nodes
    on walked.base_id = nodes.base_id and walked.node_id = nodes.node_id
left join {{ ref('int_autobase_bases') }} as bases on walked.is_first and walked.base_id = bases.base_id
left join floors on walked.is_first and walked.base_id = floors.base_id
