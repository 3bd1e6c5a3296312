{{ config(enabled=has_log('autobase_log')) }}

with lines as (
    select
        *,
        concat(writer, ':', length) as node_id
    from {{ ref('stg_autobase__lines') }}
),

set_aside as (
    select * from {{ ref('int_autobase_set_aside') }}
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

{{ merge_equal_rejects('rejected', ['source_file', 'line', 'base_id', 'node_id', 'reason', 'detail']) }}
