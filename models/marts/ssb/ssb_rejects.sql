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

-- Few ids have several lines: the texts of these alone are compared.
repeated as (
    select message_id
    from lines
    where check_error is null
    group by message_id
    having count(*) > 1
),

collided as (
    select
        lines.message_id,
        min(lines.text_digest) as kept_digest
    from lines
    left semi join repeated on lines.message_id = repeated.message_id
    where lines.check_error is null
    group by lines.message_id
    having min(lines.text_digest) <> max(lines.text_digest)
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
    {%- if var('verify_signatures') %}

    union all

    select
        lines.source_file,
        lines.line,
        lines.line_digest,
        lines.message_id,
        lines.claimed_id,
        'id_collision' as reason,
        lines.detail
    from lines
    inner join collided on lines.message_id = collided.message_id
    where lines.check_error is null and lines.text_digest <> collided.kept_digest
    {%- endif %}
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
