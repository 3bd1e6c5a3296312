-- Report, tangles: the arrows of a drawing.
select
    message_id,
    previous_id,
    is_redundant
from tangle_edges
where tangle_name = $name and root_id = $root and message_id in (select unnest($ids))
order by all
