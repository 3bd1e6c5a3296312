{{ config(enabled=has_log('autobase_log')) }}

select
    base_id,
    observer,
    at_node,
    old_length,
    kept,
    undone,
    appended
from {{ ref('int_autobase_changes') }}
where undone > 0
