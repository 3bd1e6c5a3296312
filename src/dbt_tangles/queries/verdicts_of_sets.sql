-- Report, verdicts: sets by verdict.
select
    root_status as verdict,
    count(*) as n
from sets
group by verdict
order by n desc, verdict
