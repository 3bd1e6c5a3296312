{{ config(enabled=has_log('autobase_log')) }}

with followed as (
    select
        base_id,
        node_id,
        followed_id
    from {{ ref('int_autobase_walk') }}
        lateral view explode(previous) exploded as followed_id
    where set_aside_reason = 'missing_previous'
),

-- A followed node can be in the log and set aside itself, be missing, or have a writer without any node in the log.
missing as (
    select
        followed.base_id,
        followed.node_id,
        bool_or(nodes.node_id is null) as has_missing_head,
        bool_or(nodes.node_id is null and writers.writer is null) as has_unknown_writer
    from followed
    left join {{ ref('int_autobase_nodes') }} as nodes
        on followed.base_id = nodes.base_id and followed.followed_id = nodes.node_id
    left join {{ ref('int_autobase_starts') }} as writers
        on followed.base_id = writers.base_id and split_part(followed.followed_id, ':', 1) = writers.writer
    where followed.followed_id <> ''
    group by followed.base_id, followed.node_id
)

select
    walked.base_id,
    walked.node_id,
    case
        when missing.has_unknown_writer then 'unknown_writer'
        when missing.has_missing_head then 'missing_head'
        when walked.set_aside_reason = 'missing_previous' then 'previous_set_aside'
        else walked.set_aside_reason
    end as reason
from {{ ref('int_autobase_walk') }} as walked
left join missing on walked.base_id = missing.base_id and walked.node_id = missing.node_id
where walked.set_aside_reason is not null
