-- Report, bases: the positions and values of nodes, for their tooltips, and the numbers of votes in them.
select
    node_id,
    position,
    is_confirmed,
    left(value, 300) as value,
    votes
from autobase_views as placed left join autobase_nodes as node using (base_id, node_id)
where base_id = $base and observer = 'all' and node_id in (select unnest($ids))
