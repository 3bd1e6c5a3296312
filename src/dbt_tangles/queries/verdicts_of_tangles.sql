-- Report, verdicts: tangles by verdict.
select
    case when tangle_name = 'ssb:feed' then 'feed' else root_status end as verdict,
    count(*) as n
from tangles
group by verdict
order by n desc, verdict
