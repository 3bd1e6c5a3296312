-- Report, feeds: the nodes of a drawing, the last messages of a feed up to a sequence.
select
    message_id,
    sequence,
    in_chain,
    reason
from feed_messages
where author = $author and sequence <= $until
order by sequence desc, message_id desc
limit $nodes
