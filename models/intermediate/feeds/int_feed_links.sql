{{ config(enabled=has_log('ssb_log')) }}

select
    message_id,
    author,
    sequence,
    previous_id,
    is_encrypted and not is_decrypted as is_opaque
from {{ ref('ssb_messages') }}
where is_usable and {{ is_changed('author', ref('int_feed_versions')) }}
