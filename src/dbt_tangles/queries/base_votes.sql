-- Report, bases: the numbers in the nodes of a drawing.
select
    node_id,
    votes
from autobase_nodes
where base_id = $base and node_id in (select unnest($ids))
