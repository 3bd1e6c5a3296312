{{ config(enabled=has_groups()) }}

with epochs_and_dropped as (
    select * from {{ ref('int_group_results') }}
    where row_kind in ('epoch', 'dropped')
),

dropped as (
    select
        group_id,
        'dropped_after_return' as finding,
        epoch_id,
        feed_id,
        concat(excluded_by, added_by, array(epoch_id)) as message_ids
    from epochs_and_dropped
    where row_kind = 'dropped'
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
    left anti join epochs_and_dropped as epochs on inits.message_id = epochs.epoch_id and epochs.row_kind = 'epoch'
    where inits.kind in ('root_init', 'epoch_init') and inits.is_connected
),

without_authority as (
    select
        group_id,
        'without_authority' as finding,
        if(size(epoch_ids) = 1, epoch_ids[0], null) as epoch_id,
        author as feed_id,
        array(message_id) as message_ids
    from {{ ref('int_group_authority') }}
    where verdict in ('excluded', 'not_yet', 'never')
),

-- Feeds that the group names or whose messages it has.
involved as (
    select
        group_id,
        author as feed_id
    from {{ ref('int_group_authority') }}
    union
    select
        messages.group_id,
        exploded.feed_id
    from {{ ref('int_group_messages') }} as messages
        lateral view explode(messages.feeds) exploded as feed_id
    where messages.group_id is not null
),

ambiguous_person as (
    select
        involved.group_id,
        'ambiguous_person' as finding,
        cast(null as string) as epoch_id,
        involved.feed_id,
        array_sort(collect_set(links.message_id)) as message_ids
    from involved
    inner join {{ ref('int_feed_persons') }} as persons
        on involved.feed_id = persons.feed and persons.person is null
    left join {{ ref('int_person_links') }} as links
        on persons.feed = links.feed and persons.person_source = links.person_source
    group by involved.group_id, involved.feed_id
),

findings as (
    select * from dropped
    union all
    select * from not_counted
    union all
    select * from without_authority
    union all
    select * from ambiguous_person
)

select
    *,
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
