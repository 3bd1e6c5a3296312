{{ config(enabled=has_log('ssb_log')) }}

with messages as (
    select
        author,
        message_id,
        cast(sequence as string) as sequence,
        previous_id,
        cast(asserted_ms as string) as asserted_ms,
        cast(received_ms as string) as received_ms,
        cast(is_encrypted and not is_decrypted as string) as is_opaque
    from {{ ref('ssb_messages') }}
    where is_usable
),

{{ group_versions(
    'messages', 'author', ['message_id', 'sequence', 'previous_id', 'asserted_ms', 'received_ms', 'is_opaque']
) }}
