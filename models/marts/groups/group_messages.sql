with epochs as (
    select epoch_id from {{ ref('group_epochs') }}
)

select
    messages.message_id,
    messages.author,
    messages.sequence,
    messages.kind,
    case
        when messages.invalid_reason is not null then messages.invalid_reason
        when epochs.epoch_id is not null then null
        when messages.kind in ('root_init', 'epoch_init') then 'unconnected_epoch'
        else 'unknown_epoch'
    end as set_aside_reason,
    messages.group_id,
    messages.epoch_id,
    messages.is_connected,
    messages.group_uri,
    messages.group_root,
    messages.previous_epochs,
    messages.key_fingerprint,
    messages.feeds,
    messages.author_root,
    messages.unchecked_count
from {{ ref('int_group_messages') }} as messages
left join epochs on messages.epoch_id = epochs.epoch_id
