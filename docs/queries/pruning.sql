-- One row per set: how many of its messages must be kept, may lose their data, or may be deleted without any change of
-- the set's items, now or later.
select
    set_id,
    any_value(domain) as domain,
    count(*) as messages,
    count_if(action = 'keep')::int as keep,
    count_if(action = 'erase')::int as erase,
    count_if(action = 'delete')::int as "delete"
from set_messages
where action is not null
group by set_id
order by messages desc, set_id
