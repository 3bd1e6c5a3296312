with listed as (
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
    summed.set_id,
    summed.max_depth + 1 as depth,
    listed.prev,
    listed.open_deletions as should_supersede
from {{ ref('sets') }} as summed
inner join listed on summed.set_id = listed.set_id
-- There is a greatest depth, 2^53 - 1.
where summed.root_status = 'present' and summed.max_depth < 9007199254740991
