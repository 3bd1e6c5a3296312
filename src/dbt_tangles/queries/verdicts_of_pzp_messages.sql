-- Report, verdicts: pzp messages by verdict.
select
    coalesce(reject_reason, 'usable') as verdict,
    count(*) as n
from pzp_messages
group by verdict
order by n desc, verdict
