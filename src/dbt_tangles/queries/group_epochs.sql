-- Report, groups: the nodes and arrows of a drawing, and the rows of the chart of feeds by epoch.
select
    epoch_id,
    author,
    depth,
    is_tip,
    is_preferred,
    preference,
    added_count,
    excluded_count,
    missing_count,
    returned_count,
    previous_epochs
from group_epochs
where group_id = $group
order by depth desc, epoch_id desc
limit $nodes
