-- Report, verdicts: messages in sets by verdict.
select
    case
        when is_valid then 'valid' when is_held and reject_reason <> 'bad_set_data' then 'held' else reject_reason
    end as verdict,
    count(*) as n
from set_messages
group by verdict
order by n desc, verdict
