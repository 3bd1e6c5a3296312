{{ config(enabled=has_log('ssb_log')) }}

with too_large as (
    select
        tangle_name,
        root_id
    from {{ ref('int_tangle_candidates') }}
    group by tangle_name, root_id
    having count(*) > {{ var('graph_limit') }}
)

-- A tangle with a frontier row stopped early: deeper members may follow.
select
    depths.tangle_name,
    depths.root_id,
    cast(count(*) as int) as member_count
from {{ ref('int_tangle_depths') }} as depths
left anti join too_large on depths.tangle_name = too_large.tangle_name and depths.root_id = too_large.root_id
group by depths.tangle_name, depths.root_id
having not bool_or(depths.is_frontier)
