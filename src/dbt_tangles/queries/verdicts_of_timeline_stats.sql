-- Report, verdicts: timelines by verdict.
select
    case
        when timeline_id = 'ssb:log' then 'whole log'
        when edit_count = 0 then 'without edits'
        else 'with edits'
    end as verdict,
    count(*) as n
from timeline_stats
group by verdict
order by n desc, verdict
