{{ config(enabled=has_log('ssb_log')) }}

select
    missing.tangle_name,
    missing.root_id,
    missing.missing_id,
    messages.message_id is not null as is_in_log,
    coalesce({{ is_sealed('messages') }}, false) as is_sealed,
    missing.waiting_count,
    missing.blocked_count,
    missing.unlocks
from {{ ref('int_tangle_missing') }} as missing
left join {{ ref('ssb_messages') }} as messages on missing.missing_id = messages.message_id
