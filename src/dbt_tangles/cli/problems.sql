-- rejects: The rejected lines of a log by reason, without those of faulty files.
select reason, sum(greatest(line_count, 1))::bigint as n,
    min(struct_pack(file := source_file, line := line)) filter (where source_file is not null) as first
from rejects where reason not in (select unnest($faults)) group by reason order by n desc, reason
-- files: The files of a log that were not read completely.
select source_file || ':' || line as argument, source_file || ': ' || map($faults, $meanings)[reason] as words
from rejects where reason in (select unnest($faults)) order by source_file
-- missing: The missing messages of tangles; tangles of one root with the same numbers count once.
select missing_id as argument, 'a message is ' || if(
        is_sealed, 'sealed in this export; once a decrypted export shows that it is a member', 'missing; once it arrives'
    ) || ', ' || format('{:,}', unlocks) || if(unlocks = 1, ' message becomes a member', ' messages become members')
    || ' of tangle ' || concat_ws(' and ', nullif(array_to_string(shown[:-2], ', '), ''), shown[-1]) as words
from (
    select missing_id, list_sort(list_distinct(flatten(list(alike)))) as names, sum(unlocks)::bigint as unlocks,
        any_value(is_sealed) as is_sealed,
        names[:3] || if(len(names) > 3, [format('{:,}', len(names) - 3) || ' more'], []) as shown
    from (
        select missing_id, root_id, unlocks, is_sealed, list(tangle_name) as alike from tangle_missing
        where (is_sealed or not is_in_log) and unlocks > 0
        group by missing_id, root_id, unlocks, is_sealed, waiting_count, blocked_count
    )
    group by missing_id
)
order by unlocks desc, missing_id
-- awaited: The account messages that messages of sets await.
select id as argument, format('{:,}', count(*)) || if(count(*) = 1, ' message of a set awaits', ' messages of sets await')
    || ' an account message that the log lacks or has without its data' as words
from (select unnest(awaited_ids) as id from set_messages) group by id order by count(*) desc, id
-- forks: The forked feeds.
select min_by(message_id, (sequence, message_id)) as argument,
    'feed ' || author || ' is forked at sequence ' || format('{:,}', min(sequence)) as words
from feed_messages where reason = 'forked' group by author order by author
-- gaps: The feeds with gaps.
select author as argument,
    'feed ' || author || ' lacks the message at sequence ' || format('{:,}', gap_sequence) as words
from feeds where gap_sequence is not null order by author
-- records: The messages that end a branch of a record, the cause of the most others first.
select cause_id as argument, 'record ' || tangle_name || ':' || root_id || ' leaves out ' || format('{:,}', count(*))
    || if(count(*) = 1, ' message: ' || cause_id, ' messages: ' || cause_id || ' and its followers') as words
from (
    select tangle_name, root_id, coalesce(each.cause_id, each.message_id) as cause_id
    from (select tangle_name, root_id, unnest(left_out) as each from records)
) group by tangle_name, root_id, cause_id order by count(*) desc, tangle_name, root_id, cause_id
-- groups: The findings in private groups by kind.
select min(group_id) as argument, format('{:,}', count(*)) || if(count(*) = 1, ' finding', ' findings') || ' of kind '
    || finding || ' in private groups' as words
from group_findings group by finding order by count(*) desc, finding
-- sets: The sets without a usable root.
select set_id as argument, 'the root of a set is ' || root_status as words
from sets where root_status <> 'present' order by set_id
-- bases: The bases that are incomplete or too large.
select base_id as argument, 'base ' || base_id || ' is ' || status as words
from autobase_bases where status in ('incomplete', 'too_large') order by base_id
