{{ config(enabled=has_groups()) }}

{#- Lists of messages are cut, as a hostile group can make them long; message_count has the full number. -#}
{% set message_limit = 100 -%}

with epochs as (
    select * from {{ ref('group_epochs') }}
),

members as (
    select * from {{ ref('group_members') }}
),

counted as (
    select * from {{ ref('group_messages') }}
    where set_aside_reason is null
),

dropped as (
    select
        group_id,
        'dropped_after_return' as finding,
        epoch_id,
        feed_id,
        concat(excluded_by, added_by, array(epoch_id)) as message_ids
    from {{ ref('int_group_results') }}
    where row_kind = 'dropped'
),

member_findings as (
    select
        group_id,
        finding,
        epoch_id,
        feed_id,
        added_by as message_ids
    from members
        lateral view explode(
            filter(
                array(
                    if(is_added and not is_member, 'unconnected_add', null),
                    if(is_returned, 'returned_though_excluded', null)
                ),
                name -> name is not null
            )
        ) exploded as finding
    where (is_added and not is_member) or is_returned
),

-- Peers build the graph of the inits that their schema accepts; the recipe accepts every group/init.
not_counted as (
    select
        inits.connected_root as group_id,
        'init_not_counted' as finding,
        inits.message_id as epoch_id,
        cast(null as string) as feed_id,
        array(inits.message_id) as message_ids
    from {{ ref('int_group_messages') }} as inits
    left anti join epochs on inits.message_id = epochs.epoch_id
    where inits.kind in ('root_init', 'epoch_init') and inits.is_connected
),

message_findings as (
    select
        counted.group_id,
        exploded.finding,
        counted.epoch_id,
        cast(null as string) as feed_id,
        array(counted.message_id) as message_ids
    from counted
    inner join epochs on counted.epoch_id = epochs.epoch_id
        lateral view explode(
            filter(
                array(
                    if(counted.unchecked_count > 0, 'unchecked_entry', null),
                    if(counted.group_root <> counted.group_id, 'foreign_group', null),
                    if(counted.kind = 'add' and counted.key_fingerprint <> epochs.key_fingerprint, 'foreign_key', null),
                    -- An add to the first epoch cannot be published in an earlier one.
                    if(
                        counted.kind = 'add'
                        and counted.published_in = counted.epoch_id
                        and counted.epoch_id <> counted.group_id,
                        'added_in_own_epoch', null
                    ),
                    if(
                        counted.kind = 'add'
                        and counted.epoch_id = counted.group_id
                        and not counted.is_on_feed_of_adds,
                        'added_outside_additions', null
                    )
                ),
                name -> name is not null
            )
        ) exploded as finding
),

same_key as (
    select
        group_id,
        'same_key' as finding,
        cast(null as string) as epoch_id,
        cast(null as string) as feed_id,
        array_sort(collect_list(epoch_id)) as message_ids
    from epochs
    where key_fingerprint is not null
    group by group_id, key_fingerprint
    having count(*) > 1
),

no_answer as (
    select
        group_id,
        'no_answer' as finding,
        max(if(is_preferred, epoch_id, null)) as epoch_id,
        cast(null as string) as feed_id,
        array_sort(collect_list(epoch_id)) as message_ids
    from epochs
    where is_tip and not is_decided_by_peers
    group by group_id
),

findings as (
    select * from dropped
    union all
    select * from member_findings
    union all
    select * from not_counted
    union all
    select * from message_findings
    union all
    select * from same_key
    union all
    select * from no_answer
)

select
    group_id,
    finding,
    epoch_id,
    feed_id,
    slice(message_ids, 1, {{ message_limit }}) as message_ids,
    size(message_ids) as message_count
from findings

union all

select
    group_id,
    'foreign_exclude' as finding,
    epoch_id,
    cast(null as string) as feed_id,
    message_ids,
    message_count
from {{ ref('int_group_foreign_excludes') }}
