{{ config(enabled=has_log('ssb_log', 'event_log')) }}

with arrivals as (
    select
        timeline_id,
        author,
        rank,
        edits,
        edits_left_out,
        publication,
        reason
    from {{ ref('int_timeline_order') }}
    where {{ is_changed('timeline_id', ref('int_timeline_versions')) }}
),

events as (
    select
        timeline_id,
        count(*) as event_count,
        count(distinct author) as author_count,
        max(rank) + 1 as rank_count,
        sum(size(edits)) as edit_count,
        max(publication) as publication,
        max(edits_left_out) as edits_left_out
    from arrivals
    where reason is null
    group by timeline_id
),

batches as (
    select
        arrivals.timeline_id,
        commands.batch,
        count(*) as command_count
    from arrivals
        lateral view inline(arrivals.edits) commands as batch, step, from_position, to_position
    group by arrivals.timeline_id, commands.batch
),

spread as (
    select
        timeline_id,
        percentile(command_count, array(0.5, 0.95, 0.99)) as percentiles,
        max(command_count) as most
    from batches
    group by timeline_id
)

select
    events.timeline_id,
    events.event_count,
    cast(events.author_count as int) as author_count,
    cast(events.rank_count as int) as rank_count,
    events.edit_count,
    events.edit_count / events.event_count as edits_per_event,
    spread.percentiles[0] as edits_p50,
    spread.percentiles[1] as edits_p95,
    spread.percentiles[2] as edits_p99,
    spread.most as edits_max,
    events.publication,
    events.edits_left_out as limit_reason
from events
left join spread on events.timeline_id = spread.timeline_id
