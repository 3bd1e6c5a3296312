-- Report, verdicts: rejected lines of the SSB log by verdict.
select
    reason as verdict,
    sum(greatest(line_count, 1))::bigint as n
from ssb_rejects
group by verdict
order by n desc, verdict
