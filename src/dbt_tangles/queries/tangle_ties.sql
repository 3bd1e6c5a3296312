-- Report, tangles: the number of neighbours in the order of a tangle without a path between them.
select count(tie_broken_with) as n
from tangle_messages
where tangle_name = $name and root_id = $root
