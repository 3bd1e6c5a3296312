-- Report, groups: the list of groups, those with findings and those with the most epochs.
with counted as (
    select
        group_id,
        count(*) as epochs,
        max(depth) as depth,
        max(tip_count) as tips,
        max(preference) as preference,
        bool_and(is_decided_by_peers) as is_decided,
        group_id in (select unnest($troubled)) as is_troubled
    from group_epochs
    group by group_id
)

select
    *,
    count(*) over () as total,
    case when is_troubled then 'troubled' else 'large' end as chosen
from counted
qualify is_troubled or row_number() over (order by epochs desc, group_id) <= $subjects
