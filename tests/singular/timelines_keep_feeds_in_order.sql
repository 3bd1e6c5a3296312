{{ config(meta={'group_versions': 'int_timeline_versions', 'group_key': 'timeline_id'}) }}

-- In a tangle's timeline no message stands before one that its author wrote earlier. Left out: feeds that contradict
-- the tangle's own links, and forks of more than 16 messages.
with members as (
    select
        events.timeline_id,
        events.event_id,
        events.author,
        events.position,
        cast(messages.sequence as bigint) as sequence,
        max(size(events.cyclic_causes)) over (partition by events.timeline_id) as cyclic_count,
        count(*) over (partition by events.timeline_id, events.author, messages.sequence) as fork_width
    from {{ ref('timeline_events') }} as events
    inner join {{ ref('ssb_messages') }} as messages on events.message_id = messages.message_id
    where events.timeline_id <> 'ssb:log' and {{ is_changed('events.timeline_id', ref('int_timeline_versions')) }}
),

earlier as (
    select
        timeline_id,
        event_id,
        author,
        position,
        cyclic_count,
        max(fork_width) over (partition by timeline_id, author) as fork_width,
        max(position) over (
            partition by timeline_id, author
            order by sequence asc
            range between unbounded preceding and 1 preceding
        ) as latest
    from members
)

select
    timeline_id,
    event_id,
    author
from earlier
where latest > position and cyclic_count = 0 and fork_width <= 16
