-- Lines of the event log = events that are not tangle members + rejected lines.
with all_lines as (
    select count(*) as line_count
    from {{ ref('stg_events__lines') }}
),

events as (
    select count(*) as line_count
    from {{ ref('int_timeline_order') }}
    where reason is null and line is not null
),

rejected as (
    select coalesce(sum(line_count), 0) as line_count
    from {{ ref('timeline_rejects') }}
)

select
    all_lines.line_count,
    events.line_count as event_count,
    rejected.line_count as rejected_count
from all_lines
cross join events
cross join rejected
where all_lines.line_count <> events.line_count + rejected.line_count
