-- Report, over time: columns of equal spans of time in the middle 99% of the times; the outer ones have all others, too.
with timed as (
    select
        is_merge,
        case when is_fork then 'forks' when is_member then 'members' else 'set_aside' end as kind,
        coalesce(received_ms, asserted_ms) as written,
        coalesce(written >= 1000 and written < 4102444800000, false) as is_known
    from tangle_messages
),

spans as (
    select
        -- Spans begin at whole seconds, because the search knows times in seconds.
        floor(quantile_disc(written, 0.005) / 1000) * 1000 as first,
        greatest(quantile_disc(written, 0.995) - first, 1) as length,
        ceil(length / $bins / 1000) * 1000 as width
    from timed
    where is_known
),

counted as (
    select
        least(greatest(floor((written - first) / width), 0), $bins - 1)::integer as bin,
        count(*) filter (where kind = 'members') as members,
        count(*) filter (where kind = 'forks') as forks,
        count(*) filter (where is_merge) as merges,
        count(*) filter (where kind = 'set_aside') as set_aside
    from timed cross join spans
    where is_known
    group by bin
)

select
    first,
    width,
    coalesce(members, 0) as members,
    coalesce(forks, 0) as forks,
    coalesce(merges, 0) as merges,
    coalesce(set_aside, 0) as set_aside,
    (select count(*) from timed where not is_known) as without_time
from spans cross join range($bins) as bins (bin) left join counted using (bin)
where first is not null
order by bin
