{{ config(enabled=has_log('pzp_log')) }}

select
    messages.set_id,
    messages.message_id,
    messages.account,
    fault.item,
    fault.rule,
    fault.left_out_ids
from {{ ref('int_set_messages') }} as messages
    lateral view explode(messages.writer_faults) exploded as fault
