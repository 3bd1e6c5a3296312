-- wanted: The messages of `asked`, and the root causes that the answers name.
select id from asked union select unnest(blocked_by) from tangle_messages where message_id in (select id from asked)
-- claimed: The tangles that the messages claim.
select distinct tangle_name, root_id from tangle_messages
where message_id in (select id from asked) and root_id is not null
-- tangle_messages: The rows of the messages in tangles.
select * from tangle_messages where message_id in (select id from wanted)
-- ssb_rejects: The rejected lines of the messages, and those that claim their ids.
select * from ssb_rejects where message_id in (select id from wanted) or claimed_key in (select id from wanted)
-- ssb_messages: The messages, and those whose lines claim their ids.
select * from ssb_messages where message_id in (select id from wanted) or claimed_key in (select id from wanted)
-- tangle_edges: The links of the messages, and those that lead to root causes.
select * from tangle_edges semi join claimed using (tangle_name, root_id)
where tangle_name <> 'ssb:feed' and (
    not is_member_edge or message_id in (select id from asked) or previous_id in (select id from asked)
)
-- tangles: The tangles.
select * from tangles semi join claimed using (tangle_name, root_id)
-- tangle_next: What their next messages need.
select * from tangle_next semi join claimed using (tangle_name, root_id)
-- records: Those of them that are records.
select * from records semi join claimed using (tangle_name, root_id)
-- record_fields: The fields of these.
select * from record_fields semi join claimed using (tangle_name, root_id)
-- tangle_missing: The tangles that miss the messages.
select * from tangle_missing where missing_id in (select id from wanted)
-- tangle_writer_faults: The faults of the writers.
select * from tangle_writer_faults where message_id in (select id from asked)
-- group_messages: The messages in private groups.
select * from group_messages where message_id in (select id from asked)
-- group_findings: The findings that name the messages.
select * from group_findings where list_has_any(message_ids, (select list(id) from asked))
-- group_authority: The verdicts about their authors.
select * from group_authority where message_id in (select id from asked)
-- authors: The authors.
select distinct author from ssb_messages
-- feeds: Their feeds.
select * from feeds where author in (select author from authors)
-- feed_next: What the next messages of these need.
select * from feed_next where author in (select author from authors)
-- feed_messages: The messages beside and after the messages in their feeds, and those that end the chains.
select * from feed_messages where author in (select author from authors) and (
    reason in ('forked', 'bad_link', 'off_chain') or struct_pack(a := author, b := sequence) in (
        select struct_pack(a := author, b := sequence) from ssb_messages
        union all select struct_pack(a := author, b := sequence::bigint + 1) from ssb_messages
    )
)
-- expected: The values of the queries about some messages.
select message_id as id, message_id as value, [message_id] as ids, of_feed.author, of_feed.sequence,
    tangle_name as name, root_id as root, is_member
from ssb_messages as of_feed left join tangle_messages using (message_id)
where message_id in (select unnest($ids))
