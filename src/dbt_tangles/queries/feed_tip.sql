-- Report, feeds: the node with a ring, the last message of the chain.
select latest_message_id
from feeds
where author = $author
