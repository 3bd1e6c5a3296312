with listed as (
    select
        tangle_name,
        root_id,
        message_id,
        is_bad,
        previous_id
    from (
        select
            tangle_name,
            root_id,
            message_id,
            claim_error is not null or coalesce(size(previous), 0) <= 0 as is_bad,
            if(claim_error is null, array_distinct(previous), null) as previous
        from {{ ref('int_tangle_levels') }}
        where set_aside_reason is not null and set_aside_reason <> 'tangle_too_large'
    ) as aside
        lateral view outer explode(previous) edge as previous_id
),

-- Often few are set aside: then this spares the join below most of its rows.
places as (
    select
        levels.tangle_name,
        levels.root_id,
        levels.message_id,
        levels.set_aside_reason
    from {{ ref('int_tangle_levels') }} as levels
    left semi join listed
        on
            levels.tangle_name = listed.tangle_name
            and levels.root_id = listed.root_id
            and levels.message_id = listed.previous_id
),

waiting as (
    select
        listed.tangle_name,
        listed.root_id,
        listed.message_id,
        listed.is_bad,
        listed.previous_id,
        listed.previous_id is not null and places.message_id is null as is_missing
    from listed
    left join places
        on
            listed.tangle_name = places.tangle_name
            and listed.root_id = places.root_id
            and listed.previous_id = places.message_id
    where places.message_id is null or places.set_aside_reason is not null
)

select
    tangle_name,
    root_id,
    message_id,
    false as is_missing,
    is_bad as is_cause,
    array_sort(collect_list(previous_id)) as waits_for
from waiting
group by tangle_name, root_id, message_id, is_bad

union all

select distinct
    tangle_name,
    root_id,
    previous_id as message_id,
    true as is_missing,
    true as is_cause,
    cast(array() as array<string>) as waits_for
from waiting
where is_missing
