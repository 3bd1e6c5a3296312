-- Report, verdicts: bases by verdict.
select
    status as verdict,
    count(*) as n
from autobase_bases
group by verdict
order by n desc, verdict
