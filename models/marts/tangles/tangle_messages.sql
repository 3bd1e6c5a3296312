with levels as (
    select
        levels.*,
        causes.blocked_by
    from {{ ref('int_tangle_levels') }} as levels
    left join {{ ref('int_tangle_causes') }} as causes
        on
            levels.tangle_name <=> causes.tangle_name
            and levels.root_id <=> causes.root_id
            and levels.message_id = causes.message_id
)

select
    tangle_name,
    root_id,
    message_id,
    author,
    set_aside_reason is null as is_member,
    set_aside_reason,
    blocked_by,
    depth,
    is_root,
    coalesce(child_count = 0, false) as is_tip,
    coalesce(child_count > 1, false) as is_fork,
    set_aside_reason is null and not is_root and size(array_distinct(previous)) > 1 as is_merge,
    position,
    thread_position,
    {{ rank_members('asserted_at') }} as asserted_position,
    {{ rank_members('received_at') }} as received_position,
    asserted_at,
    received_at,
    sequence
from levels
