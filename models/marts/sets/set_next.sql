{{ config(enabled=has_log('pzp_log')) }}

with next_lists as (
    select
        set_id,
        sort_array(collect_list(if(is_next_prev, message_id, null))) as prev,
        sort_array(
            array_distinct(flatten(collect_list(flatten(transform(next_items, touched -> touched.open_deletions)))))
        ) as open_deletions
    from {{ ref('int_set_messages') }}
    group by set_id
)

select
    totals.set_id,
    totals.max_depth + 1 as depth,
    next_lists.prev,
    next_lists.open_deletions as should_supersede
from {{ ref('sets') }} as totals
inner join next_lists on totals.set_id = next_lists.set_id
-- 2^53 - 1 is the greatest depth.
where totals.root_status = 'present' and totals.max_depth < 9007199254740991
