select
    tangle_name,
    root_id,
    message_id,
    previous_id,
    cast(size(previous) as int) as previous_count
from (
    select
        tangle_name,
        root_id,
        message_id,
        array_distinct(previous) as previous
    from {{ ref('int_tangle_candidates') }}
    where claim_error is null and not is_root
) as candidates
    lateral view explode(previous) edge as previous_id
