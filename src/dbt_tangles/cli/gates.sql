-- The conditions of `tangles status --fail-on`. Each section is named after its condition and its table, and selects
-- the counted rows: a text `what`, and `n`, the number of lines that it stands for.
-- rejects__ssb_rejects: The rejected lines of the SSB log.
select coalesce(source_file || ':' || line, 'ssb_rejects') || ' ' || reason as what, greatest(line_count, 1) as n
from ssb_rejects
-- rejects__pzp_rejects: The rejected lines of the pzp log.
select coalesce(source_file || ':' || line, 'pzp_rejects') || ' ' || reason as what, greatest(line_count, 1) as n
from pzp_rejects
-- rejects__autobase_rejects: The rejected lines of the autobase log.
select coalesce(source_file || ':' || line, 'autobase_rejects') || ' ' || reason as what, greatest(line_count, 1) as n
from autobase_rejects
-- rejects__timeline_rejects: The rejected lines of the event log.
select coalesce(source_file || ':' || line, 'timeline_rejects') || ' ' || reason as what, greatest(line_count, 1) as n
from timeline_rejects
-- forks__feeds: The forked feeds.
select 'feed ' || author || ' at sequence ' || fork_sequence as what, 1 as n from feeds where status = 'forked'
-- gaps__feeds: The feeds with a gap.
select 'feed ' || author || ' at sequence ' || gap_sequence as what, 1 as n from feeds where gap_sequence is not null
-- set_aside__tangle_messages: The candidates set aside, where equal tangles of one root, as thread, count once.
select distinct message_id || ' ' || set_aside_reason || ', root ' || coalesce(root_id, 'unknown') as what, 1 as n
from tangle_messages where set_aside_reason is not null
-- set_aside__group_messages: The messages that private groups set aside.
select message_id || ' ' || set_aside_reason || ', private groups' as what, 1 as n
from group_messages where set_aside_reason is not null
-- set_aside__set_messages: The messages that are not valid in their set.
select message_id || ' ' || reject_reason || ', set ' || set_id as what, 1 as n
from set_messages where not is_valid and (not is_held or reject_reason = 'bad_set_data')
-- left_out_of_record__records: The messages that records leave out.
select each.message_id || ' ' || each.reason || ', record ' || tangle_name || ':' || root_id as what, 1 as n
from (select tangle_name, root_id, unnest(left_out) as each from records)
-- failed_run__runs: The failed runs since the last successful one.
select run_id || ' ' || status as what, 1 as n from runs as r where status not in (select unnest($unfailed))
and epoch_us(started_at) > coalesce(
    (select max(epoch_us(s.started_at)) from runs as s where s.status = 'success'), -1
)
