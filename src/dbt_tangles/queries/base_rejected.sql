-- Report, bases: the dashed nodes of a drawing, rejected nodes of a base.
select
    node_id,
    min(reason) as reason
from autobase_rejects
where
    base_id = $base
    and node_id is not null
    and node_id not in (select node_id from autobase_nodes where base_id = $base)
group by node_id
order by node_id desc
limit $nodes
