-- A tangle's timeline holds its members, at their depth and position.
with members as (
    select
        {{ tangle_timeline_id() }} as timeline_id,
        message_id as event_id,
        depth as rank,
        position
    from {{ ref('tangle_messages') }}
    where is_member
),

events as (
    select
        timeline_id,
        event_id,
        rank,
        position
    from {{ ref('int_timeline_order') }}
    where is_tangle
)

{{ differences('members', 'events') }}
