-- Report, sets: the lanes of a drawing, the keys that signed the messages.
select
    message_id,
    coalesce(sigkey, 'root (unsigned)') as key
from pzp_messages
where message_id in (select unnest($ids))
