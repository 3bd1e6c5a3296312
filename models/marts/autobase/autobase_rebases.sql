{{ config(enabled=has_log('autobase_log')) }}

select
    base_id,
    observer,
    node_id as at_node,
    old_length,
    kept,
    undone,
    appended
from {{ ref('int_autobase_results') }}
where row_kind = 'change' and undone > 0
