{{ config(enabled=has_log('ssb_log')) }}

{#- Two different texts can share an id, which hashes only the low bytes. The usable text with the least digest is the
    message; the lines of the other text are rejects. With verify_signatures off, the claimed id alone decides. -#}
{% set same_text = 'message_id, text_digest' if var('verify_signatures') else 'message_id' -%}
{% set wrong_key %}case when claimed_id <> message_id then {{ keep_claimed_id('claimed_id', 'ssb') }} end{% endset -%}

with lines as (
    select *
    from {{ ref('stg_ssb__lines') }}
    where message_id is not null and {{ is_changed_line() }}
),

marked as (
    {{ mark_repeated('lines', 'message_id') }}
),

ranked as (
    select
        *,
        row_number() over (
            partition by message_id
            order by
                is_usable desc, text_digest asc, is_decrypted desc, content asc,
                author asc, sequence asc, previous_id asc, asserted_ms asc, received_ms asc,
                -- All other columns, so that lines which tie are equal.
                content_type asc, claims asc, group_claim asc, is_encrypted asc, is_signature_valid asc, check_error asc
        ) as copy_number,
        count(*) over (partition by {{ same_text }}, is_usable) as line_count,
        min(received_ms) over (partition by {{ same_text }}, is_usable) as first_received_ms,
        min({{ wrong_key }}) over (partition by {{ same_text }}, is_usable) as claimed_key,
        max(claimed_id <> message_id) over (partition by {{ same_text }}, is_usable) as has_wrong_key
    from marked
    where is_repeated

    union all

    select
        *,
        1 as copy_number,
        1 as line_count,
        received_ms as first_received_ms,
        {{ wrong_key }} as claimed_key,
        claimed_id <> message_id as has_wrong_key
    from marked
    where not is_repeated
)

select
    message_id,
    line_count,
    author,
    sequence,
    previous_id,
    asserted_ms,
    first_received_ms as received_ms,
    {{ to_timestamp_of_ms('asserted_ms') }} as asserted_at,
    {{ to_timestamp_of_ms('first_received_ms') }} as received_at,
    content_type,
    content,
    is_encrypted,
    is_decrypted,
    is_signature_valid,
    is_usable,
    not coalesce(has_wrong_key, false) as is_key_consistent,
    check_error,
    text_digest,
    claims as tangle_claims,
    group_claim,
    claimed_key,
    first_words,
    own_name
from ranked
where copy_number = 1
