-- Report, sizes, depths: tangles by number of candidates, and by depth, in ranges 0, 1, 2 to 3, 4 to 7, 8 to 15, ...
with counted as (
    select
        chart,
        case chart when 'sizes' then candidate_count else depth end as number,
        set_aside_count + invalid_claim_count as trouble
    from tangles cross join unnest(['sizes', 'depths']) as charts (chart)
    where tangle_name <> 'ssb:feed'
),

ranges as (
    select
        chart,
        case when number < 1 then 0 else (2 ** floor(log2(number)))::bigint end as low,
        trouble
    from counted
    where number is not null
),

spans as (
    select
        chart,
        min(low) as least,
        max(low) as most,
        unnest([0] || [(2 ** power)::bigint for power in range(62)]) as low
    from ranges
    group by chart
)

select
    chart,
    low,
    greatest(low, 2 * low - 1) as high,
    count(*) filter (where trouble = 0) as well,
    count(*) filter (where trouble > 0) as troubled
from spans left join ranges using (chart, low)
where low between least and most
group by chart, low
order by chart, low
