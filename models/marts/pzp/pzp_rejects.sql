{{ config(enabled=has_log('pzp_log')) }}

with rejected as (
    select
        source_file,
        line,
        line_digest,
        reject_reason as reason,
        message_id,
        {{ keep_claimed_id('claimed_id', 'pzp') }} as claimed_id,
        detail
    from {{ ref('stg_pzp__lines') }}
    where reject_reason is not null
)

{{ merge_equal_rejects('rejected', ['source_file', 'line', 'reason', 'message_id', 'claimed_id', 'detail']) }}
