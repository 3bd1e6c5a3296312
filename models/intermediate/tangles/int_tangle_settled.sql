-- The rows of the last round are a frontier where rounds stopped early: deeper members may follow them.
select
    tangle_name,
    root_id,
    cast(count(*) as int) as member_count
from {{ ref('int_tangle_depths') }}
group by tangle_name, root_id
having not bool_or(is_frontier)
