{{ config(enabled=has_log('autobase_log')) }}

with links as (
    select
        nodes.base_id,
        nodes.node_id,
        'head' as kind,
        head.writer,
        head.length
    from {{ ref('int_autobase_nodes') }} as nodes
        lateral view explode(nodes.heads) exploded as head

    union all

    select
        base_id,
        node_id,
        'previous' as kind,
        writer,
        length - 1 as length
    from {{ ref('int_autobase_nodes') }}
    where length > 1
)

select
    links.base_id,
    links.node_id,
    concat(links.writer, ':', links.length) as head_id,
    links.kind,
    known.node_id is not null as is_known,
    links.length <= coalesce(log_starts.start_length, 0) as is_before_start
from links
-- Nodes of a base that is missing from the log are left out.
left semi join {{ ref('int_autobase_bases') }} as bases on links.base_id = bases.base_id
left join {{ ref('int_autobase_nodes') }} as known
    on links.base_id = known.base_id and links.writer = known.writer and links.length = known.length
left join {{ ref('int_autobase_starts') }} as log_starts
    on links.base_id = log_starts.base_id and links.writer = log_starts.writer
