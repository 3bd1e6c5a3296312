{{ config(meta={'group_versions': 'int_timeline_versions', 'group_key': 'timeline_id'}) }}

-- Timelines are linear extensions: whatever an event follows has a lower rank and an earlier position, and what is not
-- known is not there. A rank is one above the highest cause's, and the order is by rank, then id. A broken tie is a
-- neighbour that is no cause. Of `ssb:log` only the order is checked, unless its links are there.
with links as (
    select
        links.timeline_id,
        links.event_id,
        links.is_known,
        causes.event_id as found_id,
        causes.rank,
        causes.position
    from {{ ref('timeline_links') }} as links
    left join {{ ref('timeline_events') }} as causes
        on links.timeline_id = causes.timeline_id and links.cause_id = causes.event_id
    where {{ is_changed('links.timeline_id', ref('int_timeline_versions')) }}
),

latest as (
    select
        timeline_id,
        event_id,
        max(rank) as rank,
        max(position) as position,
        bool_and(is_known = (found_id is not null)) as is_consistent
    from links
    group by timeline_id, event_id
),

events as (
    select
        timeline_id,
        event_id,
        rank,
        position,
        is_tie_broken,
        row_number() over (partition by timeline_id order by rank asc, event_id asc) - 1 as place
    from {{ ref('timeline_events') }}
    where {{ is_changed('timeline_id', ref('int_timeline_versions')) }}
)

select
    events.timeline_id,
    events.event_id,
    events.rank,
    events.position
from events
left join latest on events.timeline_id = latest.timeline_id and events.event_id = latest.event_id
where
    events.position <> events.place
    or {% if var('log_timeline') != 'full' %}events.timeline_id <> 'ssb:log' and {% endif %}(
        events.rank <> coalesce(latest.rank + 1, 0)
        or not coalesce(latest.position < events.position, true)
        or not coalesce(latest.is_consistent, true)
        or events.is_tie_broken <> (events.position > 0 and coalesce(latest.position, -1) < events.position - 1)
    )
