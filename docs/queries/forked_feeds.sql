-- One row per forked feed: the sequence of the fork, and how many messages the verified chain keeps and loses.
select
    left(author, 9) as feed,
    fork_sequence,
    verified_length as kept,
    message_count - verified_length as lost
from feeds
where status = 'forked'
order by lost desc, author
