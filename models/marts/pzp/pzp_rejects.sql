with blocks as (
    {{- locate_line_blocks(ref('stg_pzp__lines')) }}
),

rejected as (
    select
        lines.source_file,
        lines.row_id + blocks.first_line as line,
        lines.line_digest,
        lines.reject_reason as reason,
        lines.message_id,
        {{ keep_claimed_id('lines.claimed_id', 'pzp') }} as claimed_id,
        lines.detail
    from {{ ref('stg_pzp__lines') }} as lines
    inner join blocks on lines.source_file = blocks.source_file and lines.block_start = blocks.block_start
    where lines.reject_reason is not null
)

{{ merge_equal_rejects('rejected', ['source_file', 'line', 'reason', 'message_id', 'claimed_id', 'detail']) }}
