-- Report, verdicts: messages in tangles by verdict.
select
    coalesce(set_aside_reason, 'member') as verdict,
    count(*) as n
from tangle_messages
group by verdict
order by n desc, verdict
