{{ config(enabled=has_log('ssb_log')) }}

with unpacked as (
    select
        records.tangle_name,
        records.root_id,
        exploded.state
    from {{ ref('int_records') }} as records
        lateral view explode(records.fields) exploded as state
)

select
    unpacked.tangle_name,
    unpacked.root_id,
    {{ format_tangle_id('unpacked.tangle_name', 'unpacked.root_id') }} as tangle_id,
    unpacked.state.field,
    unpacked.state.strategy,
    unpacked.state.value,
    unpacked.state.is_conflict,
    unpacked.state.set_by,
    unpacked.state.conflicting_values
from unpacked
