-- Report, bases: the nodes that settle, or delay, the nodes of an observer's order.
select
    node_id,
    confirmed_by,
    contender
from autobase_confirmations
where base_id = $base and observer = $observer and node_id in (select unnest($ids))
