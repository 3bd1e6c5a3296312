{{ config(enabled=has_log('autobase_log')) }}

{#- The next node follows all heads of the base; they are the same for every writer. -#}
with heads as (
    select
        base_id,
        sort_array(collect_list(node_id)) as heads
    from {{ ref('int_autobase_results') }}
    where row_kind = 'head'
    group by base_id
),

named_writers as (
    select
        base_id,
        explode(concat(indexers, relayed)) as writer
    from {{ ref('int_autobase_bases') }}
),

writers as (
    select
        base_id,
        writer
    from named_writers

    union distinct

    select
        base_id,
        writer
    from {{ ref('int_autobase_starts') }}
),

logs as (
    select
        base_id,
        writer,
        max(length) as length,
        max_by(batch, length) as batch
    from {{ ref('int_autobase_members') }}
    group by base_id, writer
),

-- Every later node of a log with a node that is set aside would be set aside as well.
stopped as (
    select
        nodes.base_id,
        nodes.writer
    from {{ ref('int_autobase_nodes') }} as nodes
    inner join {{ ref('int_autobase_walk') }} as walked
        on nodes.base_id = walked.base_id and nodes.node_id = walked.node_id
    where walked.set_aside_reason is not null and walked.set_aside_reason <> 'before_start'
)

select
    writers.base_id,
    writers.writer,
    coalesce(logs.length, log_starts.start_length, 0) + 1 as length,
    cast(greatest(coalesce(logs.batch, 1) - 1, 1) as bigint) as batch,
    coalesce(heads.heads, cast(array() as array<string>)) as heads
from writers
left anti join stopped on writers.base_id = stopped.base_id and writers.writer = stopped.writer
left join logs on writers.base_id = logs.base_id and writers.writer = logs.writer
left join {{ ref('int_autobase_starts') }} as log_starts
    on writers.base_id = log_starts.base_id and writers.writer = log_starts.writer
left join heads on writers.base_id = heads.base_id
-- Lengths are 32-bit integers.
where coalesce(logs.length, log_starts.start_length, 0) < 2147483647
