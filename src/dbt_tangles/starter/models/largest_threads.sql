-- A post may claim its thread twice: with `root` and `branch`, and with `tangles.thread`. The larger tangle counts.
select
    root_id,
    tangle_name,
    member_count,
    depth
from (
    select
        root_id,
        tangle_name,
        member_count,
        depth,
        row_number() over (partition by root_id order by member_count desc, tangle_name desc) as place
    from {{ ref('tangles', 'tangles') }}
    where tangle_name in ('thread', 'ssb:legacy_thread')
) as threads
where place = 1
order by member_count desc, root_id asc
limit 10
