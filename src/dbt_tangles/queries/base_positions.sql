-- Report, bases: the positions and values of nodes, for their tooltips.
select
    node_id,
    position,
    is_confirmed,
    left(value, 300) as value
from autobase_views
where base_id = $base and observer = 'all' and node_id in (select unnest($ids))
