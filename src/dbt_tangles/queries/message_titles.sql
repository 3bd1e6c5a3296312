-- Report, tangles, feeds, groups: the text of a node's tooltip.
select
    message_id,
    sequence,
    content_type,
    asserted_ms,
    left(content, 300) as content,
    is_encrypted
from ssb_messages
where message_id in (select unnest($ids))
