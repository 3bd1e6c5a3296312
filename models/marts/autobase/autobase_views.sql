{{ config(enabled=has_log('autobase_log')) }}

select
    seen.base_id,
    seen.observer,
    seen.position,
    seen.node_id,
    nodes.writer,
    nodes.length,
    seen.is_confirmed,
    seen.design_position,
    nodes.is_ack,
    nodes.value
from {{ ref('int_autobase_results') }} as seen
inner join {{ ref('int_autobase_members') }} as nodes
    on seen.base_id = nodes.base_id and seen.node_id = nodes.node_id
where seen.row_kind = 'view'
