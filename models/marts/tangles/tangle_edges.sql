select
    levels.tangle_name,
    levels.root_id,
    levels.message_id,
    edge.previous_id,
    array_contains(levels.redundant_previous, edge.previous_id) as is_redundant
from {{ ref('int_tangle_levels') }} as levels
    lateral view explode(array_distinct(levels.previous)) edge as previous_id
where levels.set_aside_reason is null and not levels.is_root
