-- Report, verdicts: findings in private groups by verdict.
select
    finding as verdict,
    count(*) as n
from group_findings
group by verdict
order by n desc, verdict
