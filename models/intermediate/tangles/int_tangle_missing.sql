{{ config(enabled=has_log('ssb_log')) }}

with missing as (
    select
        tangle_name,
        root_id,
        message_id as missing_id
    from {{ ref('int_tangle_waiting') }}
    where is_missing
),

waiting_counts as (
    select
        tangle_name,
        root_id,
        missing_id,
        count(*) as waiting_count
    from {{ ref('int_tangle_waiting') }}
        lateral view explode(waits_for) listed as missing_id
    group by tangle_name, root_id, missing_id
),

blocked_counts as (
    select
        tangle_name,
        root_id,
        missing_id,
        count(*) as blocked_count,
        count_if(size(blocked_by) = 1) as unlocks
    from {{ ref('int_tangle_causes') }}
        lateral view explode(blocked_by) cause as missing_id
    group by tangle_name, root_id, missing_id
)

select
    missing.tangle_name,
    missing.root_id,
    missing.missing_id,
    cast(waiting_counts.waiting_count as int) as waiting_count,
    cast(coalesce(blocked_counts.blocked_count, 0) as int) as blocked_count,
    cast(coalesce(blocked_counts.unlocks, 0) as int) as unlocks
from missing
inner join waiting_counts
    on
        missing.tangle_name = waiting_counts.tangle_name
        and missing.root_id = waiting_counts.root_id
        and missing.missing_id = waiting_counts.missing_id
left join blocked_counts
    on
        missing.tangle_name = blocked_counts.tangle_name
        and missing.root_id = blocked_counts.root_id
        and missing.missing_id = blocked_counts.missing_id
