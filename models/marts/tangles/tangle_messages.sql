{{ config(enabled=has_log('ssb_log')) }}

with levels as (
    select
        *,
        lag(message_id) over (
            partition by tangle_name, root_id, set_aside_reason is null
            order by thread_position
        ) as neighbour_id
    from {{ ref('int_tangle_levels') }}
)

select
    tangle_name,
    root_id,
    {{ format_tangle_id() }} as tangle_id,
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
    {{ rank_members('asserted_ms') }} as asserted_position,
    {{ rank_members('received_ms') }} as received_position,
    concurrent_count,
    -- A path between neighbours of a topological order is a single link: a message between them on a longer path would
    -- stand between them in the order.
    if(
        set_aside_reason is null and not array_contains(previous, neighbour_id), neighbour_id, null
    ) as tie_broken_with,
    asserted_ms,
    received_ms,
    {{ to_timestamp_of_ms('asserted_ms') }} as asserted_at,
    {{ to_timestamp_of_ms('received_ms') }} as received_at,
    sequence
from levels
