{{ config(enabled=has_log('autobase_log')) }}

select
    base_id,
    previous_publication,
    publication,
    kept,
    undone,
    appended
from {{ ref('int_autobase_published') }}
where position = 0
