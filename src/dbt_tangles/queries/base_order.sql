-- Report, bases: the end of an observer's order.
select
    position,
    node_id,
    is_confirmed
from autobase_views
where base_id = $base and observer = $observer and position >= $first
order by position
