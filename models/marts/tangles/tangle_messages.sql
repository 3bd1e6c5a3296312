select
    tangle_name,
    root_id,
    message_id,
    author,
    set_aside_reason is null as is_member,
    set_aside_reason,
    depth,
    is_root,
    coalesce(child_count = 0, false) as is_tip,
    coalesce(child_count > 1, false) as is_fork,
    set_aside_reason is null and not is_root and size(array_distinct(previous)) > 1 as is_merge,
    position,
    thread_position,
    if(
        set_aside_reason is null,
        cast(
            row_number() over (
                partition by tangle_name, root_id, set_aside_reason is null
                order by asserted_at asc nulls last, message_id asc
            ) - 1 as int
        ),
        null
    ) as asserted_position,
    asserted_at,
    received_at,
    sequence
from {{ ref('int_tangle_levels') }}
