-- Report, groups: the groups with the most findings.
select
    group_id,
    count(*) as n
from group_findings
where group_id is not null
group by group_id
order by n desc, group_id
limit $subjects
