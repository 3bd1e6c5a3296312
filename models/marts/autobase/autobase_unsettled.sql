{{ config(enabled=has_log('autobase_log')) }}

select
    base_id,
    node_id,
    reason,
    contender,
    awaited_merge,
    writers as missing_writers
from {{ ref('int_autobase_results') }}
where row_kind = 'unsettled'
