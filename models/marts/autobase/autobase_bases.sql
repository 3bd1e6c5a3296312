{{ config(enabled=has_log('autobase_log')) }}

with views as (
    select
        base_id,
        count_if(is_confirmed) as confirmed_length
    from {{ ref('int_autobase_results') }}
    where row_kind = 'view' and observer = 'all'
    group by base_id
),

nodes as (
    select
        base_id,
        count(*) as node_count,
        count_if(child_count = 0 and not is_relayed) as head_count,
        count_if(not is_relayed) as shown_count
    from {{ ref('int_autobase_members') }}
    group by base_id
),

set_aside as (
    select
        base_id,
        count(*) as set_aside_count
    from {{ ref('int_autobase_walk') }}
    where set_aside_reason is not null and not set_aside_reason <=> 'before_start'
    group by base_id
),

unfollowed as (
    select
        base_id,
        sum(left_out) as unfollowed_count
    from {{ ref('int_autobase_results') }}
    where row_kind = 'change'
    group by base_id
)

select
    bases.base_id,
    bases.indexer_count,
    bases.majority,
    cast(coalesce(nodes.node_count, 0) as int) as node_count,
    cast(coalesce(views.confirmed_length, 0) as int) as confirmed_length,
    cast(coalesce(nodes.head_count, 0) as int) as head_count,
    cast(coalesce(nodes.node_count, 0) - coalesce(views.confirmed_length, 0) as int) as lag,
    case
        when set_aside.set_aside_count is not null then 'incomplete'
        when nodes.node_count is null then 'empty'
        when views.base_id is null and nodes.shown_count > 0 then 'too_large'
        else 'ok'
    end as status,
    cast(coalesce(unfollowed.unfollowed_count, 0) as int) as unfollowed_count
from {{ ref('int_autobase_bases') }} as bases
left join nodes on bases.base_id = nodes.base_id
left join views on bases.base_id = views.base_id
left join set_aside on bases.base_id = set_aside.base_id
left join unfollowed on bases.base_id = unfollowed.base_id
