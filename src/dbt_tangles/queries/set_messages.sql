-- Report, sets: the nodes of a drawing, the last messages of a set that are valid or held, or the last invalid ones.
select
    message_id,
    depth,
    is_held,
    reject_reason,
    is_root,
    is_item_root,
    is_tip,
    purpose
from set_messages
where set_id = $set and (is_valid or is_held) = $is_taken
order by coalesce(position, depth) desc, message_id desc
limit $nodes
