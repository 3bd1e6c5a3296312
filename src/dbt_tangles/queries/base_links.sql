-- Report, bases: the arrows of a drawing, and the dotted nodes to which they lead.
select
    node_id as child,
    head_id as parent,
    kind,
    true as is_order,
    if(is_known, null, if(is_before_start, 'older than this log', 'not in the log')) as lost
from autobase_links
where base_id = $base and node_id in (select unnest($ids))
order by all
