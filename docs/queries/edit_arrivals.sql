-- One row per arrival in a timeline: its edit commands, and by how many places its highest insertion is above the end.
with kinds as (
    select
        timeline_id,
        case
            when any_value(message_id) is null then 'event log'
            else regexp_extract(timeline_id, '^(ssb:)?[^:]*')
        end as kind
    from timeline_events
    group by timeline_id
),

commands as (
    select
        *,
        count_if(op = 'ins') over (partition by timeline_id order by batch, step) - 1 - to_position as up
    from timeline_edits
)

select
    kind,
    timeline_id,
    batch,
    count(*) as edits,
    coalesce(max(up) filter (where op = 'ins'), 0) as up
from commands join kinds using (timeline_id)
group by all
