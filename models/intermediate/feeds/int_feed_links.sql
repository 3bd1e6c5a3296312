-- A message is linked when it is a first message, or when its previous is a message of the same author, one sequence
-- before.
with messages as (
    select
        message_id,
        author,
        sequence,
        previous_id,
        asserted_at,
        is_encrypted and not is_decrypted as is_opaque
    from {{ ref('ssb_messages') }}
    where is_usable and {{ is_changed('author', ref('int_feed_versions')) }}
)

select
    messages.message_id,
    messages.author,
    messages.sequence,
    messages.previous_id,
    messages.asserted_at,
    messages.is_opaque,
    (messages.sequence = 1 and messages.previous_id is null) or parents.message_id is not null as is_linked
from messages
left join messages as parents
    on
        messages.previous_id = parents.message_id
        and messages.author = parents.author
        -- Sequences go down to -2^31, where subtracting wraps around.
        and messages.sequence > 1
        and messages.sequence - 1 = parents.sequence
