-- One row per message of a tangle that follows another message: whether it forks, so whether a message that it follows
-- had a follower already when it was received.
with followers as (
    select
        tangle_name,
        root_id,
        message_id,
        author,
        row_number() over (partition by tangle_name, root_id, previous_id order by received_position) > 1 as forks
    from tangle_edges join tangle_messages using (tangle_name, root_id, message_id)
    where is_member_edge and tangle_name <> 'ssb:feed'
)

select
    tangle_name,
    root_id,
    message_id,
    author,
    bool_or(forks) as forks
from followers
group by all
