{{ config(enabled=has_log('ssb_log')) }}

-- The members of each tangle of a record type, with their contents. Larger tangles are too large for the kernel, too.
{% set member_limit = 10000 -%}

with members as (
    select
        levels.tangle_name,
        levels.root_id,
        levels.message_id,
        levels.depth,
        levels.previous,
        types.reducer,
        count(*) over (partition by levels.tangle_name, levels.root_id) as member_count
    from {{ ref('int_tangle_levels') }} as levels
    inner join {{ ref('tangle_types') }} as types on levels.tangle_name = types.tangle_name
    where levels.set_aside_reason is null and types.reducer is not null
)

select
    members.tangle_name,
    members.root_id,
    members.message_id,
    members.depth,
    members.previous,
    messages.content,
    members.reducer
from members
inner join {{ ref('ssb_messages') }} as messages on members.message_id = messages.message_id
where members.member_count <= {{ member_limit }}
