{{ config(enabled=has_log('ssb_log')) }}

select
    tangle_name,
    root_id,
    {{ format_tangle_id() }} as tangle_id,
    message_id,
    ancestor_id,
    distance
from {{ ref('int_tangle_ancestor_rounds') }}

union all

select
    tangle_name,
    root_id,
    {{ format_tangle_id() }} as tangle_id,
    message_id,
    ancestor_id,
    distance
from {{ ref('int_tangle_ancestors') }}
