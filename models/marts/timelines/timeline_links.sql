with links as (
    select
        timeline_id,
        event_id,
        explode(array_except(causes, cyclic_causes)) as cause_id,
        feed_causes,
        both_causes,
        missing_causes
    from {{ ref('int_timeline_order') }}
    where reason is null and {{ is_changed('timeline_id', ref('int_timeline_versions')) }}
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
    not array_contains(missing_causes, cause_id) as is_known
from links
