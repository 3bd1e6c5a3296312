-- Report, groups: the number of groups.
select count(distinct group_id) as n
from group_epochs
