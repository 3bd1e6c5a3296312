-- Report, bases: the rings of nodes, and the table of quorums.
select
    node_id,
    degree,
    reached_by,
    writers
from autobase_quorums
where base_id = $base and node_id in (select unnest($ids))
order by node_id, degree
