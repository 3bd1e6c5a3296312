-- Report, tangles, feeds, groups, timelines, records: the first words of messages, in titles and drawings.
select
    message_id,
    author,
    sequence,
    content_type,
    asserted_ms,
    first_words,
    is_encrypted
from messages
where message_id in (select unnest($ids))
