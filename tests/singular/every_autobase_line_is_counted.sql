-- Lines of the autobase log = lines behind nodes that are in a base + lines about bases that count + rejected lines.
with all_lines as (
    select
        count(*) as line_count,
        count_if(kind = 'base' and reject_reason is null) as base_count
    from {{ ref('stg_autobase__lines') }}
),

nodes as (
    select coalesce(sum(nodes.line_count), 0) as line_count
    from {{ ref('int_autobase_nodes') }} as nodes
    left semi join {{ ref('autobase_nodes') }} as members
        on nodes.base_id = members.base_id and nodes.node_id = members.node_id
),

rejected as (
    select
        coalesce(sum(line_count), 0) as line_count,
        coalesce(sum(if(reason = 'conflicting_base', line_count, 0)), 0) as conflict_count
    from {{ ref('autobase_rejects') }}
)

select
    all_lines.line_count,
    nodes.line_count as node_line_count,
    all_lines.base_count - rejected.conflict_count as base_line_count,
    rejected.line_count as rejected_count
from all_lines
cross join nodes
cross join rejected
where all_lines.line_count <> nodes.line_count + all_lines.base_count - rejected.conflict_count + rejected.line_count
