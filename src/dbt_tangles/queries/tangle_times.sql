-- Report, tangles: the lanes of a drawing, and the times that show which links lead back in time.
select
    message_id,
    author,
    asserted_ms
from tangle_messages
where tangle_name = $name and root_id = $root and message_id in (select unnest($ids))
