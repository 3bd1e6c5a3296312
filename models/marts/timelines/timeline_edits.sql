{{ config(enabled=has_log('ssb_log', 'event_log')) }}

select
    arrivals.timeline_id,
    commands.batch,
    commands.step,
    if(commands.from_position is null, 'ins', 'mov') as op,
    arrivals.event_id,
    commands.from_position,
    commands.to_position
from {{ ref('int_timeline_order') }} as arrivals
    lateral view inline(arrivals.edits) commands as batch, step, from_position, to_position
where {{ is_changed('arrivals.timeline_id', ref('int_timeline_versions')) }}
