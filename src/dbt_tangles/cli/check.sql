-- message: The tables' values for statements about a message.
select message_id as message, is_usable as valid from ssb_messages
where message_id in (select unnest($ids))
-- feed: The tables' values for statements about a feed.
select author as feed, verified_length as sequence, latest_message_id as id from feeds
where author in (select unnest($ids))
-- root: The tables' values for statements about a tangle.
select root_id as root, tangle_name as tangle, tips as previous, member_count as members from tangles
where root_id in (select unnest($ids))
-- epoch: The tables' values for statements about an epoch.
select epoch_id as epoch, list(feed_id) filter (where is_added) as members from group_members
where epoch_id in (select unnest($ids)) group by epoch_id
-- group: The tables' values for statements about a group.
select group_id as "group", epoch_id as preferred from group_epochs
where is_preferred and group_id in (select unnest($ids))
-- set: The tables' values for statements about a set.
select set_id as "set", items, prev, depth from sets as a left join set_next as b using (set_id)
where set_id in (select unnest($ids))
-- base: The tables' values for statements about a base.
select base_id as base, node_count as length, confirmed_length as confirmed from autobase_bases
where base_id in (select unnest($ids))
-- view: The tables' values for statements about a view.
select base_id as view, observer, list(node_id order by position) as "order" from autobase_views
where base_id in (select unnest($ids)) group by base_id, observer
-- timeline: The tables' values for statements about a timeline.
select timeline_id as timeline, list(event_id order by position) as "order" from timeline_events
where timeline_id in (select unnest($ids)) group by timeline_id
-- tangle_name: The tables' values for statements about a tangle, by columns.
select root_id, tangle_name, tips, coalesce(members, []) as members, coalesce(members, []) as "order"
from tangles left join (
    select root_id, tangle_name, list(message_id order by position) as members
    from tangle_messages where is_member group by all
) using (root_id, tangle_name) where root_id in (select unnest($ids))
-- set_id: The tables' values for statements about a set, by columns.
select set_id, items, item_roots from sets where set_id in (select unnest($ids))
-- base_id: The tables' values for statements about a view, by columns.
select base_id, observer, list(node_id order by position) as "order",
    count(*) filter (where is_confirmed) as confirmed_length
from autobase_views where base_id in (select unnest($ids)) group by base_id, observer
-- timeline_id: The tables' values for statements about a timeline, by columns.
select timeline_id, list(event_id order by position) as "order" from timeline_events
where timeline_id in (select unnest($ids)) group by timeline_id
-- message_state: The rule that a message breaks, and its signature.
select check_error, is_signature_valid from ssb_messages where message_id = $id
-- feed_state: The state of a feed.
select verified_length, max_sequence, status, gap_sequence, fork_sequence from feeds
where author = $id
-- feed_following: The message of a chain at a sequence.
select message_id from feed_messages where author = $id and sequence = $next and in_chain
-- feed_place: The place of a message in a feed.
select author, f.sequence, reason from ssb_messages left join feed_messages as f
using (message_id, author) where message_id = $id
-- tangle_aside: The messages that a tangle sets aside, by reason.
select set_aside_reason as reason, count(*) as n from tangle_messages
where tangle_name = $name and root_id = $root and not is_member group by 1 order by 2 desc, 1
-- tangle_missing_ids: The missing messages whose arrival makes others members.
select missing_id, if(is_sealed, 'is decrypted', 'arrives') as happens, unlocks from tangle_missing
where tangle_name = $name and root_id = $root and unlocks > 0 and (is_sealed or not is_in_log)
order by unlocks desc, missing_id limit 3
-- tangle_place: The row of a message in a tangle.
select is_member, set_aside_reason from tangle_messages
where tangle_name = $name and root_id = $root and message_id = $id
-- tangle_follower: A member that follows another one.
select min(message_id) as id from tangle_edges
where tangle_name = $name and root_id = $root and previous_id = $id and is_member_edge
-- epoch_feeds: The roles of some feeds in an epoch.
select feed_id, is_excluded, is_missing, added_by, excluded_by from group_members
where epoch_id = $id and feed_id in (select unnest($feeds))
-- group_epochs_of: The preferred epoch of a group, and another one.
select epoch_id, is_tip, is_preferred, preference, is_decided_by_peers from group_epochs
where group_id = $id and (is_preferred or epoch_id = $peer)
-- set_deleted: Those of some items that a set has deleted.
select item from set_next_items where set_id = $set and item in (select unnest($items))
-- set_added: Who has added some items.
select item, added_by from set_items where set_id = $set and item in (select unnest($items))
-- set_tips: The rows of some messages of a set.
select message_id, is_valid, reject_reason, is_tip from set_messages
where set_id = $set and message_id in (select unnest($ids))
-- set_not_valid: The messages of a set that are not valid, and the undecided ones.
select count_if(reject_reason not in (select unnest($undecided))) as refused,
    count_if(reject_reason in (select unnest($undecided))) as undecided,
    flatten(list(awaited_ids)) as awaited
from set_messages where set_id = $set and not is_valid and not is_held
-- base_rejects: The rejected lines of a base, by reason.
select reason, sum(line_count)::bigint as n from autobase_rejects where base_id = $base
group by reason order by n desc, reason
-- base_unsettled: The first node of a base that is not settled.
select v.node_id, u.contender from autobase_views as v left join autobase_unsettled as u
using (base_id, node_id)
where v.base_id = $base and v.observer = 'all' and not v.is_confirmed order by v.position limit 1
-- view_place: The place of a node in a view.
select position, is_confirmed as is_settled from autobase_views
where base_id = $base and observer = $observer and node_id = $id
-- view_reject: Why a node is rejected.
select min(reason) as reason from autobase_rejects where base_id = $base and node_id = $id
-- timeline_place: The place of an event in a timeline.
select position, rank from timeline_events where timeline_id = $timeline and event_id = $id
-- timeline_reject: Why an event is rejected.
select min(reason) as reason from timeline_rejects where timeline_id = $timeline and event_id = $id
