-- message: The row of a message.
select message_id, account, domain, sigkey, line_count, is_moot, has_data, is_data_valid, is_signature_valid,
    is_key_authorised, awaited_ids, is_usable, is_id_consistent, claimed_id, account_tips, reject_reason
from pzp_messages where message_id = $id
-- sets: The rows of a message in its sets.
select set_id, message_id, depth, is_valid, is_held, reject_reason, awaited_ids, position, is_root, is_item_root, is_tip,
    purpose, action
from set_messages where message_id = $id order by set_id
-- awaited_by: The messages that await an account message before their key can be checked.
select message_id from pzp_messages where list_contains(awaited_ids, $id) order by message_id limit 100
-- data: Whether the data of a message has the form of a set's.
select add is not null as has_items, coalesce(len(tangles), 0) as tangle_count from int_pzp_messages
where message_id = $id
-- links: The links from a message of a set, and to it.
select message_id, other_id, kind, is_known from set_links
where set_id = $set and (message_id = $id or other_id = $id) order by all limit 200
-- faults: The faults of a message's writer.
select rule, item, left_out_ids from set_writer_faults where set_id = $set and message_id = $id order by all
-- next: What the next message of a set needs.
select depth, prev, should_supersede from set_next where set_id = $set
-- bad: The messages of a set that are not valid.
select message_id, reject_reason, awaited_ids from set_messages
where set_id = $set and not is_valid and not is_held order by message_id limit 200000
-- links_of: The messages that some messages follow.
select message_id, unnest(prev) as other_id from int_set_entries
where set_id = $set and message_id in (select unnest($ids)) order by all limit 200000
-- known: Those of some ids that are in a set.
select message_id from set_messages where set_id = $set and message_id in (select unnest($ids))
-- in_log: Those of some ids that are in the log.
select message_id, has_data, reject_reason from pzp_messages
where message_id in (select unnest($ids)) order by message_id
