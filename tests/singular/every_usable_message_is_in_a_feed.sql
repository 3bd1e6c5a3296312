select messages.message_id
from {{ ref('ssb_messages') }} as messages
left anti join {{ ref('feed_messages') }} as placed on messages.message_id = placed.message_id
where messages.is_usable
