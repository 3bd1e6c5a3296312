select
    root_id,
    member_count,
    depth
from {{ ref('tangles', 'tangles') }}
where tangle_name in ('thread', 'legacy_thread')
order by member_count desc, root_id
limit 10
