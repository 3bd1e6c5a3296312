-- Report, over time: the columns, each with the messages of a span of time; the outer ones have all others, too.
with timed as (
    select
        is_merge,
        case when is_fork then 'forks' when is_member then 'members' else 'set_aside' end as kind,
        coalesce(received_ms, asserted_ms) as written
    from tangle_messages
)

select
    least(greatest(floor((written - $first) / $width), 0), $bins - 1)::integer as bin,
    count(*) filter (where kind = 'members') as members,
    count(*) filter (where kind = 'forks') as forks,
    count(*) filter (where is_merge) as merges,
    count(*) filter (where kind = 'set_aside') as set_aside
from timed
where written >= 1000 and written < 4102444800000
group by bin
order by bin
