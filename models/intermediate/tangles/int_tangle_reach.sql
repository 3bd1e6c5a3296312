{{ config(enabled=has_log('ssb_log')) }}

with members as (
    select
        tangle_name,
        root_id,
        message_id,
        depth,
        if(is_root, null, previous) as previous,
        count(*) over (partition by tangle_name, root_id) as member_count
    from {{ ref('int_tangle_levels') }}
    where set_aside_reason is null and {{ has_sql_rounds() }}
)

select
    tangle_name,
    root_id,
    message_id,
    depth,
    explode(array_distinct(previous)) as previous_id
from members
where member_count <= {{ var('ancestor_limit') }}
