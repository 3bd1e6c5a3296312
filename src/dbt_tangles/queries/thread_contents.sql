-- Report, texts: the contents of messages, of which a text shows at most 1,000 characters.
select
    message_id,
    content_type,
    left(content, 20000) as content,
    is_encrypted
from ssb_messages
where message_id in (select unnest($ids))
