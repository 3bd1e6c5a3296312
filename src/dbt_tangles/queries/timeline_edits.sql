-- Report, timelines: the steps of a playback, the last commands first.
select
    batch,
    step,
    op,
    event_id,
    from_position,
    to_position
from timeline_edits
where timeline_id = $timeline
order by batch desc, step desc
limit $commands
