{{ config(enabled=has_log('ssb_log')) }}

with members as (
    select
        tangle_name,
        root_id,
        message_id,
        array(
            named_struct('fault', 'own_message_left_out', 'message_ids', own_left_out),
            named_struct('fault', 'redundant_previous', 'message_ids', redundant_previous),
            named_struct('fault', 'previous_not_tip', 'message_ids', not_tips)
        ) as faults
    from {{ ref('int_tangle_levels') }}
    where size(own_left_out) > 0 or size(redundant_previous) > 0 or size(not_tips) > 0
)

select
    members.tangle_name,
    members.root_id,
    members.message_id,
    fault.fault,
    array_sort(fault.message_ids) as message_ids
from members
    lateral view explode(members.faults) exploded as fault
where size(fault.message_ids) > 0
