-- Report, feeds: the arrows of a drawing.
select
    message_id,
    previous_id
from ssb_messages
where
    author = $author
    and sequence >= $first
    and previous_id is not null
    and message_id in (select unnest($ids))
order by all
