{{ config(meta={'group_versions': 'int_timeline_versions', 'group_key': 'timeline_id'}) }}

-- A tangle's timeline holds its members; feeds can only raise them above their depth.
with members as (
    select
        {{ format_tangle_id() }} as timeline_id,
        message_id as event_id,
        depth
    from {{ ref('tangle_messages') }}
    where is_member and {{ is_changed(format_tangle_id(), ref('int_timeline_versions')) }}
),

events as (
    select
        timeline_id,
        event_id,
        rank
    from {{ ref('int_timeline_order') }}
    where line is null and timeline_id <> 'ssb:log' and {{ is_changed('timeline_id', ref('int_timeline_versions')) }}
)

select
    coalesce(members.timeline_id, events.timeline_id) as timeline_id,
    coalesce(members.event_id, events.event_id) as event_id,
    members.depth,
    events.rank
from members
full outer join events on members.timeline_id = events.timeline_id and members.event_id = events.event_id
where
    members.event_id is null
    or events.rank is null
    -- Links by hash close no cycle, so that none of them is left out.
    or (events.rank < members.depth and {{ var('verify_signatures') }})
