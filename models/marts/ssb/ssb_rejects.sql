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

usable as (
    select * from lines
    where check_error is null
),

-- Few ids have several lines: the texts of these alone are compared.
repeated as (
    select message_id
    from usable
    group by message_id
    having count(*) > 1
),

collided as (
    select
        usable.message_id,
        min(usable.text_digest) as kept_digest
    from usable
    left semi join repeated on usable.message_id = repeated.message_id
    group by usable.message_id
    having min(usable.text_digest) <> max(usable.text_digest)
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
        usable.source_file,
        usable.line,
        usable.line_digest,
        usable.message_id,
        usable.claimed_id,
        'id_collision' as reason,
        usable.detail
    from usable
    inner join collided on usable.message_id = collided.message_id
    where usable.text_digest <> collided.kept_digest
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
