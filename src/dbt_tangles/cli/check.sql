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
-- feed_state: The state of a feed.
select verified_length, max_sequence, status, gap_sequence, fork_sequence from feeds
where author = $id
-- why_message: The rule that a message breaks, and its signature.
select case
    when check_error is not null then check_error || ': '
    when is_signature_valid is null then 'the build did not check signatures (verify_signatures: false)'
    else 'it is well-formed and signed by its author'
end as words, check_error as code, null as lost
from ssb_messages join subject on message_id = subject_id
-- why_feed: The end of a feed, the message behind the peer's last one, and the place of that one.
with ends as (
    select subject_id, verified_length, max_sequence, try_cast(entry as double) as said
    from feeds join subject on author = subject_id join differing on statement = 'sequence'
)
select 1 as part, 'this log ends at ' || format('{:,}', max_sequence) as words, null as code, null as lost
from ends where said > max_sequence
union all
select 2, 'the peer lacks ' || message_id || ' or rejects it', null, null
from ends join feed_messages on author = subject_id and sequence = said + 1 and in_chain
where said between 0 and verified_length - 1
union all
select 3, case
    when known.author is null then entry || ' is not in the log'
    when known.author <> subject_id then entry || ' belongs to another author, ' || known.author
    else format('{} has sequence {:,} in these tables', entry, place.sequence) || coalesce(', ' || reason || ': ', '')
end, if(known.author = subject_id, reason, null), if(known.author is null, entry, null)
from differing join subject on true left join ssb_messages as known on known.message_id = entry
left join feed_messages as place on place.message_id = entry and place.author = subject_id
where statement = 'id' order by part
-- why_tangle: The places of tips in a tangle, and the messages that it sets aside or misses.
with node as (
    select message_id, is_member, set_aside_reason
    from tangle_messages join subject on root_id = subject_id and tangle_name = second
)
select 1 as part, n, case
    when side = 'tables' then entry || ' is a member that no other member follows'
    when is_member then entry || ' is followed by ' || (
        select min(message_id) from tangle_edges join subject on root_id = subject_id and tangle_name = second
        where previous_id = entry and is_member_edge
    )
    when node.message_id is not null then entry || ' is set aside: ' || set_aside_reason || '. '
    when known.message_id is null then entry || ' is not in the log'
    when check_error is not null then entry || ' is not verified: ' || check_error
    else entry || ' does not claim this tangle'
end as words, if(side = 'peer', set_aside_reason, null) as code,
if(known.message_id is null and node.message_id is null, entry, null) as lost
from differing left join node on node.message_id = entry left join ssb_messages as known on known.message_id = entry
where statement in ('tips', 'previous') and side in ('peer', 'tables')
union all
select 2, row_number() over (order by count(*) desc, set_aside_reason),
    format('{:,} set aside: {}. ', count(*), set_aside_reason), set_aside_reason, null
from node join subject on list_contains(statements, 'members') where not is_member group by set_aside_reason
union all
select 3, row_number() over (order by unlocks desc, missing_id) as nth,
    'once ' || missing_id || if(is_sealed, ' is decrypted, ', ' arrives, ')
    || if(unlocks = 1, '1 becomes a member', format('{:,} become members', unlocks)), null, null
from tangle_missing join subject on root_id = subject_id and tangle_name = second
where list_contains(statements, 'members') and unlocks > 0 and (is_sealed or not is_in_log) qualify nth <= 3
order by part, n
-- why_epoch: The roles of feeds in an epoch.
select entry || case
    when side = 'tables' then ' is added by ' || array_to_string(added_by[:3], ', ')
    when feed_id is null then ' is not added by any counted message'
    when is_excluded then ' is excluded by ' || array_to_string(excluded_by[:3], ', ')
    when is_missing then ' is missing: it belongs to the epoch, but no message adds it'
end as words, null as code, null as lost
from differing join subject on side in ('peer', 'tables')
left join group_members on epoch_id = subject_id and feed_id = entry order by n
-- why_group: The rule that selects the preferred epoch of a group, and the state of the peer's epoch.
with epochs as (
    select * from group_epochs join subject on group_id = subject_id join differing on is_preferred or epoch_id = entry
)
select 1 as part, 'the rule ' || preference || ' selects the preferred epoch' as words, null as code, null as lost
from epochs where is_preferred
union all
select 2, epoch_id || ' is not a tip', null, null from epochs where not is_preferred and not is_tip
union all
select 3, entry || ' is not an epoch of the group', null, null
from differing where entry not in (select epoch_id from epochs) order by part
-- why_set: The origin of items of a set, the places of its tips, and the messages that are not valid.
with invalid as (
    select *, reject_reason in ('unknown_account_tips', 'undecided_prev') as is_undecided
    from set_messages join subject on set_id = subject_id where not is_valid
)
select 1 as part, n, entry || case
    when side = 'tables' then ' is added by ' || added_by
    when entry in (select item from set_next_items where set_id = subject_id) then ' is deleted'
    else ' is not added by any valid message'
end as words, null as code, null as lost
from differing join subject on side in ('peer', 'tables') left join set_items on set_id = subject_id and item = entry
where statement = 'items'
union all
select 2, n, entry || case
    when message.message_id is null then ' is not a message of the set in these tables'
    when not message.is_valid then
        if(is_undecided, ' is undecided: ', ' is not valid: ') || message.reject_reason || '. '
    when not message.is_tip then ' is not a tip: another valid message follows it'
end, if(message.is_valid, null, message.reject_reason), null
from differing join subject on side = 'parting'
left join set_messages as message on message.set_id = subject_id and message.message_id = entry
left join invalid on invalid.message_id = entry
where statement = 'prev'
union all
select 3, 0, if(
    count(*) = 1, '1 message of the set is not valid', format('{:,} messages of the set are not valid', count(*))
), null, null
from invalid where not is_held and not is_undecided having count(*) > 0
union all
select 4, 0, if(count(*) = 1, '1 message of the set awaits', format('{:,} messages of the set await', count(*)))
    || ' messages of the account: '
    || array_to_string(list_sort(list_distinct(flatten(list(coalesce(awaited_ids, [])))))[:3], ', '), null, null
from invalid where not is_held and is_undecided having count(*) > 0
order by part, n
-- why_base: The rejected lines of a base, and its first node that is not settled.
with unsettled as (
    select view.node_id, contender from autobase_views as view join subject on view.base_id = subject_id
    left join autobase_unsettled as reasons on reasons.base_id = subject_id and reasons.node_id = view.node_id
    where observer = 'all' and not is_confirmed order by position limit 1
)
select 1 as part, row_number() over (order by sum(line_count) desc, reason) as n,
    if(sum(line_count) = 1, '1 line', format('{:,} lines', sum(line_count)::bigint)) || ' rejected: ' || reason || '. '
    as words, reason as code, null as lost
from autobase_rejects join subject on base_id = subject_id and list_contains(statements, 'length') group by reason
union all
select 2, 0, coalesce('the first node that is not settled is ' || node_id
    || coalesce(', because ' || contender || ' competes with it', ''), 'all nodes are settled'), null, null
from subject left join unsettled on true where list_contains(statements, 'confirmed') order by part, n
-- why_view: The places of nodes in a view, or their reject reasons.
with rejects as (
    select node_id, min(reason) as reason from autobase_rejects join subject on base_id = subject_id group by node_id
)
select entry || case
    when place.node_id is not null
        then format(' is at place {:,} in these tables, ', position) || if(is_confirmed, 'settled', 'not settled')
    else coalesce(' is rejected: ' || reason || '. ', ' is not in the tables')
end as words, if(place.node_id is null, reason, null) as code, null as lost
from differing join subject on statement = 'order' and side = 'parting'
left join autobase_views as place on base_id = subject_id and observer = second and place.node_id = entry
left join rejects on rejects.node_id = entry order by n
-- why_timeline: The places of events in a timeline, or their reject reasons.
with rejects as (
    select event_id, min(reason) as reason from timeline_rejects join subject on timeline_id = subject_id
    group by event_id
)
select entry || case
    when place.event_id is not null then format(' is at place {:,} in these tables, rank {:,}', position, rank)
    else coalesce(' is rejected: ' || reason || '. ', ' is not in the tables')
end as words, if(place.event_id is null, reason, null) as code, null as lost
from differing join subject on statement = 'order' and side = 'parting'
left join timeline_events as place on timeline_id = subject_id and place.event_id = entry
left join rejects on rejects.event_id = entry order by n
