with blocks as (
    {{- line_blocks(ref('stg_autobase__lines')) }}
),

lines as (
    select
        lines.*,
        lines.row_id + blocks.first_line as line,
        concat(lines.writer, ':', lines.length) as node_id
    from {{ ref('stg_autobase__lines') }} as lines
    inner join blocks on lines.source_file = blocks.source_file and lines.block_start = blocks.block_start
),

followed as (
    select
        base_id,
        node_id,
        followed_id
    from {{ ref('int_autobase_walk') }}
        lateral view explode(previous) exploded as followed_id
    where set_aside_reason = 'missing_previous'
),

-- What is followed may be in the log, and set aside itself. If not, there may be nothing at all of its writer.
missing as (
    select
        followed.base_id,
        followed.node_id,
        bool_or(nodes.node_id is null) as has_missing_head,
        bool_or(nodes.node_id is null and writers.writer is null) as has_unknown_writer
    from followed
    left join {{ ref('int_autobase_nodes') }} as nodes
        on followed.base_id = nodes.base_id and followed.followed_id = nodes.node_id
    left join {{ ref('int_autobase_starts') }} as writers
        on followed.base_id = writers.base_id and split_part(followed.followed_id, ':', 1) = writers.writer
    where followed.followed_id <> ''
    group by followed.base_id, followed.node_id
),

set_aside as (
    select
        walked.base_id,
        walked.node_id,
        case
            when missing.has_unknown_writer then 'unknown_writer'
            when missing.has_missing_head then 'missing_head'
            when walked.set_aside_reason = 'missing_previous' then 'previous_set_aside'
            else walked.set_aside_reason
        end as reason
    from {{ ref('int_autobase_walk') }} as walked
    left join missing on walked.base_id = missing.base_id and walked.node_id = missing.node_id
    where walked.set_aside_reason is not null
),

rejected as (
    select
        source_file,
        line,
        line_digest,
        base_id,
        node_id,
        reject_reason as reason,
        detail
    from lines
    where reject_reason is not null

    union all

    select
        lines.source_file,
        lines.line,
        lines.line_digest,
        lines.base_id,
        lines.node_id,
        set_aside.reason,
        cast(null as string) as detail
    from lines
    inner join set_aside on lines.base_id = set_aside.base_id and lines.node_id = set_aside.node_id
    where lines.reject_reason is null and lines.kind = 'node'

    union all

    select
        lines.source_file,
        lines.line,
        lines.line_digest,
        lines.base_id,
        cast(null as string) as node_id,
        'conflicting_base' as reason,
        'another line says something else about this base' as detail
    from lines
    inner join {{ ref('int_autobase_bases') }} as bases on lines.base_id = bases.base_id
    where
        lines.reject_reason is null
        and lines.kind = 'base'
        and not struct(lines.indexers, lines.relayed, lines.start)
        <=> struct(bases.indexers, bases.relayed, bases.start)
)

{{ join_alike_rejects('rejected', ['source_file', 'line', 'base_id', 'node_id', 'reason', 'detail']) }}
