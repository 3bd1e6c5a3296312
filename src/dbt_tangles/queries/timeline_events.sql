-- Report, timelines: the boxes of a drawing, the events from a position on.
select
    event_id,
    position,
    rank,
    latest_rank,
    is_tip,
    is_tie_broken,
    left_out_causes,
    author,
    message_id,
    source_file,
    line
from timeline_events
where timeline_id = $timeline and position >= $first
order by position
