-- A post may claim its thread twice: with `root` and `branch`, and with `tangles.thread`. The larger tangle counts.
with threads as (
    select
        root_id,
        tangle_name,
        member_count,
        depth,
        row_number() over (partition by root_id order by member_count desc, tangle_name desc) as place
    from {{ ref('tangles', 'tangles') }}
    where tangle_name in ('thread', 'ssb:legacy_thread')
),

-- `dbt show` adds a limit to the end of a model, and SQL takes only one there: ranks limit these rows instead.
ranked as (
    select
        *,
        row_number() over (order by member_count desc, root_id asc) as thread_rank
    from threads
    where place = 1
)

select
    root_id,
    tangle_name,
    member_count,
    depth
from ranked
where thread_rank <= 10
