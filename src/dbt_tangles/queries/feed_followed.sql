-- Report, feeds: the messages of a feed among those that its messages off the chain follow.
select message_id
from feed_messages
where author = $author and message_id in (select unnest($ids))
