{{ config(enabled=has_groups()) }}

{#- The rows hold fingerprints in place of the keys of epochs, which are secret. Keys break ties between epochs, and
    different keys can be made with the same fingerprint, so the digest also covers the whole key. -#}
with keys as (
    select
        lines.message_id,
        lines.group_claim.key_fingerprint,
        sha2(min(lines.epoch_key), 256) as key_digest
    from {{ ref('stg_ssb__lines') }} as lines
    where lines.epoch_key is not null
    group by lines.message_id, lines.group_claim.key_fingerprint
),

texts as (
    select
        group_id,
        message_id,
        key_fingerprint,
        to_json(struct(*)) as message
    from {{ ref('int_group_messages') }}
),

messages as (
    select
        texts.group_id,
        texts.message,
        keys.key_digest,
        cast(authority.is_refused as string) as is_refused
    from texts
    left join {{ ref('int_group_authority') }} as authority
        on texts.group_id = authority.group_id and texts.message_id = authority.message_id and authority.is_refused
    left join keys on texts.message_id = keys.message_id and texts.key_fingerprint = keys.key_fingerprint
),

{{ group_versions('messages', 'group_id', ['message', 'key_digest', 'is_refused']) }}
