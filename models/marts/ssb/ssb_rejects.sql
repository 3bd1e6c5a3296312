with lines as (
    select
        source_file,
        block_start,
        row_id,
        message_id,
        text_digest,
        check_error
    from {{ ref('stg_ssb__lines') }}
),

-- Spark reads a file in blocks and numbers rows within each; a line's number is what came before its block, plus that.
blocks as (
    select
        source_file,
        block_start,
        min(row_id) as first_row_id,
        sum(count(*)) over (
            partition by source_file
            order by block_start
            rows between unbounded preceding and 1 preceding
        ) as lines_before
    from lines
    group by source_file, block_start
),

collided as (
    select
        message_id,
        min(text_digest) as kept_digest
    from lines
    where check_error is null
    group by message_id
    having min(text_digest) <> max(text_digest)
),

rejected as (
    select
        source_file,
        block_start,
        row_id,
        message_id,
        check_error as reason
    from lines
    where check_error is not null
    {%- if var('verify_signatures') %}

    union all

    select
        lines.source_file,
        lines.block_start,
        lines.row_id,
        lines.message_id,
        'id_collision' as reason
    from lines
    inner join collided on lines.message_id = collided.message_id
    where lines.check_error is null and lines.text_digest <> collided.kept_digest
    {%- endif %}
)

select
    rejected.source_file,
    rejected.row_id - blocks.first_row_id + coalesce(blocks.lines_before, 0) + 1 as line,
    rejected.reason,
    rejected.message_id
from rejected
inner join blocks
    on rejected.source_file = blocks.source_file and rejected.block_start = blocks.block_start
