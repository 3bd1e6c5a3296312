-- Report, verdicts: messages of private groups by verdict.
select
    coalesce(set_aside_reason, 'counted') as verdict,
    count(*) as n
from group_messages
group by verdict
order by n desc, verdict
