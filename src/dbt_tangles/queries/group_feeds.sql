-- Report, groups: the table of members over time, the roles of feeds in the epochs that are drawn.
with roles as (
    select
        feed_id,
        epoch_id,
        is_added,
        is_excluded,
        is_member,
        is_missing,
        is_returned
    from group_members
    where group_id = $group and epoch_id in (select unnest($epochs))
)

select
    *,
    (select count(distinct feed_id) from roles) as feed_total
from roles
where feed_id in (select feed_id from roles group by feed_id order by count(*) desc, feed_id limit $nodes)
order by feed_id, epoch_id
