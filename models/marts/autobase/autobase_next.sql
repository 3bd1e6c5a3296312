{#- A writer's next node stands on all that is known; what it says of others is the same for all writers of a base. -#}
with heads as (
    select
        base_id,
        sort_array(collect_list(node_id)) as heads
    from {{ ref('int_autobase_heads') }}
    group by base_id
),

listed as (
    select
        base_id,
        explode(concat(indexers, relayed)) as writer
    from {{ ref('int_autobase_bases') }}
),

writers as (
    select
        base_id,
        writer
    from listed

    union distinct

    select
        base_id,
        writer
    from {{ ref('int_autobase_starts') }}
),

-- A log with a node that is set aside goes on from there, and so would all that is written in it.
broken as (
    select distinct
        nodes.base_id,
        nodes.writer
    from {{ ref('int_autobase_nodes') }} as nodes
    inner join {{ ref('int_autobase_walk') }} as walked
        on nodes.base_id = walked.base_id and nodes.node_id = walked.node_id
    where walked.set_aside_reason is not null and walked.set_aside_reason <> 'before_start'
),

logs as (
    select
        base_id,
        writer,
        max(length) as length,
        max_by(batch, length) as batch
    from {{ ref('int_autobase_members') }}
    group by base_id, writer
)

select
    writers.base_id,
    writers.writer,
    coalesce(logs.length, beginnings.start_length, 0) + 1 as length,
    greatest(coalesce(logs.batch, 1) - 1, 1) as batch,
    coalesce(heads.heads, cast(array() as array<string>)) as heads
from writers
left anti join broken on writers.base_id = broken.base_id and writers.writer = broken.writer
left join logs on writers.base_id = logs.base_id and writers.writer = logs.writer
left join {{ ref('int_autobase_starts') }} as beginnings
    on writers.base_id = beginnings.base_id and writers.writer = beginnings.writer
left join heads on writers.base_id = heads.base_id
-- A log that is as long as lengths can be does not go on.
where coalesce(logs.length, beginnings.start_length, 0) < 2147483647
