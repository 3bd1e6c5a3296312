-- Report, verdicts: nodes of bases by verdict.
select
    role as verdict,
    count(*) as n
from autobase_nodes
group by verdict
order by n desc, verdict
