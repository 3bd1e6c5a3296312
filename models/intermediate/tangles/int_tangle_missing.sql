{{ config(enabled=has_log('ssb_log')) }}

with missing as (
    select
        tangle_name,
        root_id,
        missing_id,
        count(*) as waiting_count
    from {{ ref('int_tangle_levels') }}
        lateral view explode(missing_previous) listed as missing_id
    group by tangle_name, root_id, missing_id
),

blocked_counts as (
    select
        tangle_name,
        root_id,
        missing_id,
        count(*) as blocked_count,
        count_if(size(blocked_by) = 1) as unlocks
    from {{ ref('int_tangle_levels') }}
        lateral view explode(blocked_by) cause as missing_id
    group by tangle_name, root_id, missing_id
)

select
    missing.tangle_name,
    missing.root_id,
    missing.missing_id,
    cast(missing.waiting_count as int) as waiting_count,
    cast(coalesce(blocked_counts.blocked_count, 0) as int) as blocked_count,
    cast(coalesce(blocked_counts.unlocks, 0) as int) as unlocks
from missing
left join blocked_counts
    on
        missing.tangle_name = blocked_counts.tangle_name
        and missing.root_id = blocked_counts.root_id
        and missing.missing_id = blocked_counts.missing_id
