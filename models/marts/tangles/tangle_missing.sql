{{ config(enabled=has_log('ssb_log')) }}

with messages as (
    select
        messages.message_id,
        {{ is_sealed('messages') }} as is_sealed
    from {{ ref('ssb_messages') }} as messages
    left semi join {{ ref('int_tangle_missing') }} as missing on messages.message_id = missing.missing_id
)

select
    missing.tangle_name,
    missing.root_id,
    {{ format_tangle_id('missing.tangle_name', 'missing.root_id') }} as tangle_id,
    missing.missing_id,
    messages.message_id is not null as is_in_log,
    coalesce(messages.is_sealed, false) as is_sealed,
    missing.waiting_count,
    missing.blocked_count,
    missing.unlocks
from {{ ref('int_tangle_missing') }} as missing
left join messages on missing.missing_id = messages.message_id
