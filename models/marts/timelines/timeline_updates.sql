{{ config(enabled=has_log('ssb_log', 'event_log')) }}

select
    timeline_id,
    previous_publication,
    publication,
    update_step as step,
    if(update_from_position is null, 'ins', 'mov') as op,
    event_id,
    update_from_position as from_position,
    update_to_position as to_position
from {{ ref('int_timeline_order') }}
where update_step is not null and {{ is_changed('timeline_id', ref('int_timeline_versions')) }}
