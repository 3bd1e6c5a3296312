{{ config(enabled=has_log('ssb_log', 'event_log')) }}

with events as (
    select
        timeline_id,
        event_id,
        causes,
        coalesce(cause_kinds, array_repeat('given', size(causes))) as kinds,
        missing_causes,
        cyclic_causes,
        size(missing_causes) = 0 and size(cyclic_causes) = 0 as is_complete
    from {{ ref('int_timeline_order') }}
    where reason is null and {{ is_changed('timeline_id', ref('int_timeline_versions')) }}
),

links as (
    select
        events.timeline_id,
        events.event_id,
        listed.cause_id,
        if(listed.kind = 'unproven_feed', 'feed', listed.kind) as kind,
        events.is_complete
    from events
        lateral view inline(arrays_zip(events.causes, events.kinds)) listed as cause_id, kind
),

-- An event may list 10,000 causes, so a row per cause must not carry the lists of its event.
absent as (
    select
        timeline_id,
        event_id,
        explode(missing_causes) as cause_id,
        false as is_cyclic
    from events
    where not is_complete

    union all

    select
        timeline_id,
        event_id,
        explode(cyclic_causes) as cause_id,
        true as is_cyclic
    from events
    where not is_complete
)

select
    timeline_id,
    event_id,
    cause_id,
    kind,
    true as is_known
from links
where is_complete

union all

select
    links.timeline_id,
    links.event_id,
    links.cause_id,
    links.kind,
    absent.cause_id is null as is_known
from links
left join absent
    on
        links.timeline_id = absent.timeline_id
        and links.event_id = absent.event_id
        and links.cause_id = absent.cause_id
where not links.is_complete and not coalesce(absent.is_cyclic, false)
