-- Report, bases: the nodes of a drawing, the last nodes of a base.
select
    node_id,
    role,
    is_ack,
    depth,
    is_head
from autobase_nodes
where base_id = $base
order by depth desc, node_id desc
limit $nodes
