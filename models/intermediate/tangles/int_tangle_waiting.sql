{{ config(enabled=has_log('ssb_log')) }}

with set_aside_links as (
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

-- A filter for the join below: usually few candidates are set aside.
listed_candidates as (
    select
        levels.tangle_name,
        levels.root_id,
        levels.message_id,
        levels.set_aside_reason
    from {{ ref('int_tangle_levels') }} as levels
    left semi join set_aside_links
        on
            levels.tangle_name = set_aside_links.tangle_name
            and levels.root_id = set_aside_links.root_id
            and levels.message_id = set_aside_links.previous_id
),

unmet_links as (
    select
        set_aside_links.tangle_name,
        set_aside_links.root_id,
        set_aside_links.message_id,
        set_aside_links.is_bad,
        set_aside_links.previous_id,
        set_aside_links.previous_id is not null and listed_candidates.message_id is null as is_missing
    from set_aside_links
    left join listed_candidates
        on
            set_aside_links.tangle_name = listed_candidates.tangle_name
            and set_aside_links.root_id = listed_candidates.root_id
            and set_aside_links.previous_id = listed_candidates.message_id
    where listed_candidates.message_id is null or listed_candidates.set_aside_reason is not null
)

select
    tangle_name,
    root_id,
    message_id,
    false as is_missing,
    is_bad as is_cause,
    array_sort(collect_list(previous_id)) as waits_for
from unmet_links
group by tangle_name, root_id, message_id, is_bad

union all

select distinct
    tangle_name,
    root_id,
    previous_id as message_id,
    true as is_missing,
    true as is_cause,
    cast(array() as array<string>) as waits_for
from unmet_links
where is_missing
