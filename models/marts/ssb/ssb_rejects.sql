{{ config(enabled=has_log('ssb_log')) }}

with lines as (
    select
        source_file,
        line,
        line_digest,
        message_id,
        claimed_id,
        text_digest,
        check_error,
        detail
    from {{ ref('stg_ssb__lines') }}
    where {{ is_changed('message_id', ref('stg_ssb__lines'), 'message_id') }}
),

rejected as (
    select
        source_file,
        line,
        line_digest,
        message_id,
        claimed_id,
        check_error as reason,
        detail
    from lines
    where check_error is not null

    union all

    -- The message of an id has the least digest of the usable texts: see ssb_messages.
    select
        lines.source_file,
        lines.line,
        lines.line_digest,
        lines.message_id,
        lines.claimed_id,
        'id_collision' as reason,
        lines.detail
    from lines
    inner join {{ ref('ssb_messages') }} as messages on lines.message_id = messages.message_id
    where lines.check_error is null and lines.text_digest <> messages.text_digest and {{ var('verify_signatures') }}
),

keyed as (
    select
        source_file,
        line,
        line_digest,
        reason,
        message_id,
        {{ keep_claimed_id('claimed_id', 'ssb') }} as claimed_key,
        detail
    from rejected
)

{{ merge_equal_rejects('keyed', ['source_file', 'line', 'reason', 'message_id', 'claimed_key', 'detail']) }}
