with events as (
    select
        timeline_id,
        event_id,
        causes,
        feed_causes,
        both_causes,
        missing_causes,
        cyclic_causes
    from {{ ref('int_timeline_order') }}
    where reason is null and {{ is_changed('timeline_id', ref('int_timeline_versions')) }}
),

-- Known and missing causes apart: an event may list 10,000 causes, and a row per cause must not carry them all.
links as (
    select
        timeline_id,
        event_id,
        explode(array_except(causes, concat(missing_causes, cyclic_causes))) as cause_id,
        feed_causes,
        both_causes,
        true as is_known
    from events
    union all
    select
        timeline_id,
        event_id,
        explode(missing_causes) as cause_id,
        feed_causes,
        both_causes,
        false as is_known
    from events
)

select
    timeline_id,
    event_id,
    cause_id,
    case
        when feed_causes is null then 'given'
        when array_contains(feed_causes, cause_id) then 'feed'
        when array_contains(both_causes, cause_id) then 'both'
        else 'tangle'
    end as kind,
    is_known
from links
