-- Report, bases: the arrows of a drawing.
select
    node_id,
    head_id,
    kind,
    is_known,
    is_before_start
from autobase_links
where base_id = $base and node_id in (select unnest($ids))
order by all
