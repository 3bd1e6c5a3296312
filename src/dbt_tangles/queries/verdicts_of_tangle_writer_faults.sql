-- Report, verdicts: writer faults in tangles by verdict.
select
    fault as verdict,
    count(*) as n
from tangle_writer_faults
group by verdict
order by n desc, verdict
