-- set_messages: The messages of the sets of `within`.
select * from set_messages where set_id in (select id from within)
-- set_links: Their links.
select * from set_links where set_id in (select id from within)
-- set_writer_faults: The faults of their writers.
select * from set_writer_faults where set_id in (select id from within)
-- set_next: What their next messages need.
select * from set_next where set_id in (select id from within)
-- int_set_entries: The messages that they follow.
select * from int_set_entries where set_id in (select id from within)
-- listed: The messages of `asked`, and those that messages of the sets follow or await.
select id from asked union select unnest(awaited_ids) from set_messages union select unnest(prev) from int_set_entries
-- pzp_rejects: The rejected lines of the messages, and those that claim their ids.
select * from pzp_rejects where message_id in (select id from asked) or claimed_id in (select id from asked)
-- int_pzp_messages: The data of the messages.
select * from int_pzp_messages where message_id in (select id from asked)
-- pzp_messages: The messages, those whose lines claim their ids, and those that await them.
select * from pzp_messages where message_id in (select id from listed) or claimed_id in (select id from asked)
    or list_has_any(awaited_ids, (select list(id) from asked))
-- expected: The values of the queries about some messages.
select message_id as id, message_id as value, [message_id] as ids, set_id as set
from set_messages where message_id in (select unnest($ids))
