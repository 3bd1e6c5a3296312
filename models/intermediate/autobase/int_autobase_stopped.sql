{{ config(enabled=has_log('autobase_log')) }}

-- Every later node of a log with a node that is set aside would be set aside as well.
select distinct
    nodes.base_id,
    nodes.writer
from {{ ref('int_autobase_nodes') }} as nodes
inner join {{ ref('int_autobase_walk') }} as walked
    on nodes.base_id = walked.base_id and nodes.node_id = walked.node_id
where walked.set_aside_reason is not null and walked.set_aside_reason <> 'before_start'
