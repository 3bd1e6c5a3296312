-- Report, tangles: the nodes of a drawing, the last members of a tangle, or the last messages that are set aside.
select
    message_id,
    author,
    is_member,
    set_aside_reason,
    depth,
    is_root,
    is_tip,
    is_fork,
    is_merge,
    concurrent_count,
    tie_broken_with
from tangle_messages
where tangle_name = $name and root_id = $root and is_member = $is_member
order by depth desc, message_id desc
limit $nodes
