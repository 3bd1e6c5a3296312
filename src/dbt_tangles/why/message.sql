-- message: The row of a message.
select message_id, author, sequence, previous_id, content_type, content, asserted_ms, line_count, is_encrypted,
    is_decrypted, is_signature_valid, is_usable, is_key_consistent, claimed_key, check_error
from ssb_messages where message_id = $id
-- group: The row of a message in its private group.
select kind, set_aside_reason, group_id, epoch_id, is_connected, published_in, published_in_kind, previous_epochs
from group_messages where message_id = $id
-- group_findings: The findings that name a message of a private group.
select distinct finding, epoch_id, feed_id from group_findings
where list_contains(message_ids, $id) order by all limit 100
-- authority: Whether the author of a message of a private group was a member at that time.
select group_id, kind, person, verdict, evidence from group_authority where message_id = $id order by group_id limit 100
-- group_next: What a message needs to be published again in some epochs.
select epoch_id, kind, tangles from group_next
where kind = $kind and epoch_id in (select unnest($epochs)) order by epoch_id limit 100
-- feed: The row of an author's feed.
select author, message_count, max_sequence, verified_length, fork_sequence, gap_sequence, status, latest_message_id
from feeds where author = $author
-- feed_next: What the next message of a feed needs.
select sequence, previous_id, status from feed_next where author = $author
-- feed_at: The messages of a feed at a sequence.
select message_id, sequence, in_chain, reason from feed_messages
where author = $author and sequence = $sequence order by message_id limit 100
-- feed_followed_by: The messages of a feed that list a message as previous; after a fork, those of its branch alone.
select message_id, sequence, in_chain, reason from feed_messages
where author = $author and message_id <> $id and message_id in (
    select message_id from ssb_messages where author = $author and previous_id = $id
)
order by sequence, message_id limit 100
-- feed_broken_by: The messages of a feed with some reasons, up to a sequence.
select message_id, sequence, reason from feed_messages
where author = $author and sequence <= $sequence and reason in (select unnest($reasons))
order by sequence, message_id limit 100
-- feed_outside: The messages of a feed outside of its chain.
select message_id, sequence, reason from feed_messages
where author = $author and not in_chain order by sequence, message_id limit 100
-- feed_outside_counts: Their numbers by reason.
select reason, count(*) as n, min(sequence) as first from feed_messages
where author = $author and not in_chain group by reason order by first, reason
-- tangles: The rows of a message in the tangles that it claims.
select tangle_name, root_id, is_member, set_aside_reason, blocked_by, depth, is_root, is_tip, is_fork, is_merge,
    position, concurrent_count, tie_broken_with
from tangle_messages where message_id = $id
-- links: The links of a message in a tangle; if it is set aside, also those of all that are, which lead to the causes.
select message_id, previous_id from tangle_edges
where tangle_name = $name and root_id = $root
    and (message_id = $id or previous_id = $id or (not is_member_edge and not $is_member))
order by message_id = $id desc, previous_id = $id desc, message_id, previous_id limit 200000
-- root: The status of a tangle's root.
select root_status from tangles where tangle_name = $name and root_id = $root
-- faults: The faults of a member's writer.
select fault, message_ids from tangle_writer_faults
where tangle_name = $name and root_id = $root and message_id = $id order by fault
-- record: A member's part in a record: whether the record leaves it out, the fields that it sets, and those in conflict.
select status, [each for each in left_out if each.message_id = $id][1] as left_out,
    coalesce(list(field order by field) filter (where list_contains(set_by, $id)), []) as sets,
    coalesce(list(field order by field) filter (where list_contains(set_by, $id) and is_conflict), []) as conflicts
from records left join record_fields using (tangle_name, root_id)
where tangle_name = $name and root_id = $root group by all
-- next: What the next message of a tangle needs.
select previous, depth from tangle_next where tangle_name = $name and root_id = $root
-- missing: Those of some ids that a tangle misses.
select missing_id, is_in_log, is_sealed, waiting_count, blocked_count, unlocks from tangle_missing
where tangle_name = $name and root_id = $root and missing_id in (select unnest($ids))
-- own_reasons: The reasons of some candidates that are set aside.
select message_id, set_aside_reason from tangle_messages
where tangle_name = $name and root_id = $root and not is_member and message_id in (select unnest($ids))
-- errors: The rules that some messages break.
select message_id, check_error from ssb_messages where message_id in (select unnest($ids))
-- awaiting: The tangles that miss an id.
select tangle_name, root_id, is_in_log, is_sealed, waiting_count, blocked_count, unlocks
from tangle_missing where missing_id = $id order by all limit 100
