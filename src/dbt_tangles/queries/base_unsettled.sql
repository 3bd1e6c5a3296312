-- Report, bases: the reasons why nodes wait.
select
    node_id,
    reason
from autobase_unsettled
where base_id = $base and node_id in (select unnest($ids))
