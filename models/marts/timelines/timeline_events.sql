select
    timeline_id,
    event_id,
    rank,
    position,
    is_tip,
    missing_causes,
    arrival,
    author
from {{ ref('int_timeline_order') }}
where reason is null
