{{ config(enabled=has_log('pzp_log')) }}

select
    messages.set_id,
    item.item,
    item.item_position,
    messages.message_id as added_by,
    sort_array(item.kept_by) as kept_by
from {{ ref('int_set_messages') }} as messages
    lateral view explode(messages.items) exploded as item
