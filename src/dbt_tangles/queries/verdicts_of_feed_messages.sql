-- Report, verdicts: messages in their feeds by verdict.
select
    coalesce(reason, 'in_chain') as verdict,
    count(*) as n
from feed_messages
group by verdict
order by n desc, verdict
