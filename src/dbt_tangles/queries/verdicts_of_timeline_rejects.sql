-- Report, verdicts: rejected lines of the event log by verdict.
select
    reason as verdict,
    sum(greatest(line_count, 1))::bigint as n
from timeline_rejects
group by verdict
order by n desc, verdict
