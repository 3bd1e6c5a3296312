-- Report, feeds: the last sequence in the drawing of a broken feed, so that half of its nodes are off the chain.
select max(sequence) as until
from (
    select sequence
    from feed_messages
    where author = $author and not in_chain
    order by sequence
    limit $off_chain
) as off_chain
