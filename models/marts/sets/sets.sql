{{ config(enabled=has_log('pzp_log')) }}

with totals as (
    select
        set_id,
        max(if(is_moot, account, null)) as account,
        max(if(is_moot, domain, null)) as domain,
        case
            when bool_or(is_moot and is_valid) then 'present'
            when bool_or(message_id = set_id) then 'unusable'
            else 'missing'
        end as root_status,
        cast(count_if(is_valid or is_held) as int) as message_count,
        cast(count_if(not is_valid) as int) as invalid_count,
        max(if(is_valid or is_held, depth, null)) as max_depth,
        transform(sort_array(flatten(collect_list(items))), placed -> placed.item) as items,
        transform(
            sort_array(
                transform(
                    filter(flatten(collect_list(items)), placed -> placed.position_left is not null),
                    placed -> struct(placed.position_left as position_left, placed.item as item)
                )
            ),
            placed -> placed.item
        ) as items_after_pruning,
        coalesce(bool_and(is_pruning_safe), true) as is_pruning_safe,
        transform(
            sort_array(collect_list(if(is_item_root, struct(position, message_id), null))), placed -> placed.message_id
        ) as item_roots,
        min(if(is_item_root, depth, null)) as item_root_depth,
        min(if(is_oldest_standing, depth, null)) as oldest_depth,
        sort_array(collect_list(if(is_tip, message_id, null))) as tips,
        coalesce(bool_and(are_writers_checked), true) as are_writers_checked
    from {{ ref('int_set_messages') }}
    group by set_id
),

required as (
    select
        *,
        if(root_status = 'present', item_root_depth, 0) as min_required_depth
    from totals
)

select
    set_id,
    account,
    domain,
    root_status,
    message_count,
    invalid_count,
    max_depth,
    items,
    items_after_pruning,
    is_pruning_safe,
    item_roots,
    min_required_depth,
    if(
        min_required_depth is null, null, greatest(0, min_required_depth - {{ var('set_ghost_span') }})
    ) as min_ghost_depth,
    max_depth - oldest_depth as squeeze_potential,
    tips,
    are_writers_checked
from required
-- Messages can also name the root of a feed that is not a set.
where root_status <> 'present' or {{ is_set_domain('domain') }}
