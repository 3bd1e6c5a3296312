-- events: The rows of an event in each timeline.
select timeline_id, rank, position, is_tip, is_tie_broken, missing_causes, cyclic_causes, arrival, author, source_file,
    line
from timeline_events where event_id = $id and message_id is null order by timeline_id
-- rejects: The rejected lines of an event.
select timeline_id, reason, detail, source_file, line from timeline_rejects
where event_id = $id order by source_file, line
-- links: The links from an event of a timeline, and to it.
select event_id, cause_id, kind, is_known from timeline_links
where timeline_id = $timeline and (event_id = $id or cause_id = $id) order by all limit 200
