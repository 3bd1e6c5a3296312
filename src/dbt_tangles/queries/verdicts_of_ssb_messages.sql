-- Report, verdicts: messages of SSB by verdict.
select
    coalesce(check_error, 'usable') as verdict,
    count(*) as n
from ssb_messages
group by verdict
order by n desc, verdict
