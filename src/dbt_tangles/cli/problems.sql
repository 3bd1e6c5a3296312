-- rejects: The rejected lines of a log by reason, without those of faulty files.
select reason, sum(greatest(line_count, 1))::bigint as n,
    min(struct_pack(file := source_file, line := line)) filter (where source_file is not null) as first
from rejects where reason not in (select unnest($faults)) group by reason order by n desc, reason
-- missing: The missing messages of tangles; tangles of one root with the same numbers count once.
select missing_id, list_sort(list_distinct(flatten(list(names)))) as names, sum(unlocks)::bigint as unlocks,
    any_value(is_sealed) as is_sealed
from (
    select missing_id, root_id, unlocks, is_sealed, list(tangle_name) as names from tangle_missing
    where (is_sealed or not is_in_log) and unlocks > 0
    group by missing_id, root_id, unlocks, is_sealed, waiting_count, blocked_count
)
group by missing_id order by unlocks desc, missing_id
-- awaited: The account messages that messages of sets await.
select id, count(*) as n from (select unnest(awaited_ids) as id from set_messages) group by id order by n desc, id
-- forks: The forked feeds.
select author, min(sequence) as sequence, min_by(message_id, (sequence, message_id)) as message_id
from feed_messages where reason = 'forked' group by author order by author
-- gaps: The feeds with gaps.
select author, gap_sequence as gap from feeds where gap_sequence is not null order by author
-- records: The messages that end a branch of a record, the cause of the most others first.
select tangle_name, root_id, cause_id, count(*) as n from (
    select tangle_name, root_id, coalesce(each.cause_id, each.message_id) as cause_id
    from (select tangle_name, root_id, unnest(left_out) as each from records)
) group by all order by n desc, tangle_name, root_id, cause_id
-- groups: The findings in private groups by kind.
select finding, count(*) as n, min(group_id) as group_id from group_findings group by finding order by n desc, finding
-- sets: The sets without a usable root.
select set_id, root_status from sets where root_status <> 'present' order by set_id
-- bases: The bases that are incomplete or too large.
select base_id, status from autobase_bases where status in ('incomplete', 'too_large') order by base_id
