-- Report, verdicts: writer faults in sets by verdict.
select
    rule as verdict,
    count(*) as n
from set_writer_faults
group by verdict
order by n desc, verdict
