select
    root_id,
    count(*) as messages
from {{ ref('tangles', 'tangle_messages') }}
where tangle_name = 'thread' and is_member
group by root_id
