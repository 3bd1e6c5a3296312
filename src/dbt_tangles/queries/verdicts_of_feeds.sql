-- Report, verdicts: feeds by verdict.
select
    status as verdict,
    count(*) as n
from feeds
group by verdict
order by n desc, verdict
