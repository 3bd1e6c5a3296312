-- Report, sets: the arrows of a drawing, and the dotted nodes to which they lead.
select
    message_id as child,
    other_id as parent,
    kind,
    kind <> 'supersedes' as is_order,
    if(is_known, null, 'not in the set') as lost
from set_links
where set_id = $set and message_id in (select unnest($ids))
order by all
