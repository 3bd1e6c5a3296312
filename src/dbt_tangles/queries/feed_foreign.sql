-- Report, feeds: the messages of the log among those that messages off a chain follow.
select message_id
from ssb_messages
where message_id in (select unnest($ids))
