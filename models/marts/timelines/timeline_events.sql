{{ config(enabled=has_log('ssb_log', 'event_log')) }}

select
    timeline_id,
    event_id,
    rank,
    latest_rank,
    position,
    is_tip,
    is_tie_broken,
    missing_causes,
    cyclic_causes,
    coalesce(left_out_causes, cast(array() as array<string>)) as left_out_causes,
    coalesce(arrival, ordinal) as arrival,
    author,
    if(line is null, event_id, null) as message_id,
    source_file,
    line
from {{ ref('int_timeline_order') }}
where reason is null and {{ is_changed('timeline_id', ref('int_timeline_versions')) }}
