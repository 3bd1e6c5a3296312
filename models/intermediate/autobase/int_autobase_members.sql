with starts as (
    select
        base_id,
        sort_array(collect_list(struct(writer, start_length as length))) as start
    from {{ ref('int_autobase_starts') }}
    group by base_id
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
    starts.start
from {{ ref('int_autobase_walk') }} as walked
inner join {{ ref('int_autobase_nodes') }} as nodes
    on walked.base_id = nodes.base_id and walked.node_id = nodes.node_id
inner join {{ ref('int_autobase_bases') }} as bases on walked.base_id = bases.base_id
inner join starts on walked.base_id = starts.base_id
where walked.set_aside_reason is null
