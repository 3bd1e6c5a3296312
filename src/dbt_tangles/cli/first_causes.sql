-- feed: The messages of a feed.
select author as scope, 'ssb_messages' as input, '' as whole, message_id as id, sequence as place
from side.ssb_messages
-- tangle: The candidates of a tangle, and the messages that it misses.
select tangle_name || ':' || root_id as scope, 'ssb_messages' as input, '' as whole, message_id as id,
    coalesce(depth, 1e9) as place
from side.tangle_messages
union all
select tangle_name || ':' || root_id, 'ssb_messages', '', unnest(blocked_by), -1 from side.tangle_messages
-- group: The messages of a private group.
select group_id as scope, 'ssb_messages' as input, '' as whole, message_id as id, 0 as place
from side.group_messages
-- set: The messages of a set and of its account, which hold the account's keys, and the messages that it awaits.
select set_id as scope, 'pzp_messages' as input, '' as whole, message_id as id, coalesce(depth, 1e9) as place
from side.set_messages
union all
select set_id, 'pzp_messages', '', message_id, 2e9 from side.sets inner join side.pzp_messages using (account)
union all
select set_id, 'pzp_messages', '', unnest(awaited_ids), -1 from side.set_messages
union all
select set_id, 'pzp_messages', '', account, -2 from side.sets where account is not null
-- timeline: The events of a timeline.
select timeline_id as scope, if(message_id is null, 'timeline_events', 'ssb_messages') as input,
    if(message_id is null, timeline_id, '') as whole, event_id as id, position as place
from side.timeline_events
-- base: The nodes of a base.
select base_id as scope, 'autobase_nodes' as input, base_id as whole, node_id as id, coalesce(depth, 1e9) as place
from side.autobase_nodes
