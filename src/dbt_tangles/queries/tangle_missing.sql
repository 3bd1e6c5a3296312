-- Report, tangles: the dotted nodes of a drawing, messages that the tangle lacks.
select
    missing_id,
    is_in_log,
    is_sealed
from tangle_missing
where tangle_name = $name and root_id = $root and missing_id in (select unnest($ids))
order by all
