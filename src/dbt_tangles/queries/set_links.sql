-- Report, sets: the arrows of a drawing.
select
    message_id,
    other_id,
    kind,
    is_known
from set_links
where set_id = $set and message_id in (select unnest($ids))
order by all
