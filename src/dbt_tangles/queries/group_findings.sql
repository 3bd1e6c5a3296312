-- Report, groups: the findings of a group.
select
    finding,
    epoch_id,
    feed_id,
    message_ids[1:10] as message_ids,
    message_count
from group_findings
where group_id = $group
order by finding, epoch_id, feed_id, message_ids
limit 200
