-- timeline_events: The events of `asked` in the timelines of `within`.
select * from timeline_events where timeline_id in (select id from within) and event_id in (select id from asked)
-- timeline_links: Their links.
select * from timeline_links where timeline_id in (select id from within)
    and (event_id in (select id from asked) or cause_id in (select id from asked))
-- timeline_rejects: Their rejected lines.
select * from timeline_rejects where event_id in (select id from asked)
-- expected: The values of the queries about some events.
select event_id as id, event_id as value, timeline_id as timeline
from timeline_events where event_id in (select unnest($ids))
