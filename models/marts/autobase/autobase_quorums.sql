{{ config(enabled=has_log('autobase_log')) }}

select
    base_id,
    node_id,
    degree,
    reached_by,
    writers
from {{ ref('int_autobase_results') }}
where row_kind = 'quorum'
