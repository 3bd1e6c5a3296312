-- Report, sets: the items of a set.
select
    item,
    item_position,
    added_by,
    kept_by[1:10] as kept_by,
    len(kept_by) as keeper_count
from set_items
where set_id = $set
order by item_position
limit $nodes
