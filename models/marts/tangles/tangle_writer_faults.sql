{{ config(enabled=has_log('ssb_log')) }}

with listed as (
    select
        tangle_name,
        root_id,
        message_id,
        explode(
            array(
                named_struct('fault', 'own_message_left_out', 'message_ids', own_left_out),
                named_struct('fault', 'redundant_previous', 'message_ids', redundant_previous),
                named_struct('fault', 'previous_not_tip', 'message_ids', not_tips)
            )
        ) as entry
    from {{ ref('int_tangle_levels') }}
    where size(own_left_out) > 0 or size(redundant_previous) > 0 or size(not_tips) > 0
)

select
    listed.tangle_name,
    listed.root_id,
    {{ format_tangle_id('listed.tangle_name', 'listed.root_id') }} as tangle_id,
    listed.message_id,
    listed.entry.fault,
    array_sort(listed.entry.message_ids) as message_ids
from listed
where size(listed.entry.message_ids) > 0
