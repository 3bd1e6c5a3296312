-- Report, verdict: the number of events of the event log.
select count(*) as n
from timeline_events
where message_id is null
