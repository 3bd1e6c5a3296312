{{ config(meta={'group_versions': 'int_tangle_versions', 'group_key': 'root_id'}) }}

-- Tangles with pairs of ancestors: concurrent members occur in no pair, and neither does a broken tie.
with members as (
    select
        messages.tangle_name,
        messages.root_id,
        messages.message_id,
        messages.concurrent_count,
        messages.tie_broken_with,
        messages.thread_position,
        tangles.member_count
    from {{ ref('tangle_messages') }} as messages
    inner join {{ ref('tangles') }} as tangles
        on messages.tangle_name = tangles.tangle_name and messages.root_id = tangles.root_id
    where
        messages.is_member
        and tangles.member_count <= {{ var('ancestor_limit') }}
        and {{ is_changed('messages.root_id', ref('int_tangle_versions')) }}
),

ordered_pairs as (
    select
        tangle_name,
        root_id,
        message_id,
        ancestor_id as other_id
    from {{ ref('tangle_ancestors') }}
    where {{ is_changed('root_id', ref('int_tangle_versions')) }}

    union all

    select
        tangle_name,
        root_id,
        ancestor_id as message_id,
        message_id as other_id
    from {{ ref('tangle_ancestors') }}
    where {{ is_changed('root_id', ref('int_tangle_versions')) }}
),

related as (
    select
        tangle_name,
        root_id,
        message_id,
        count(*) as related_count
    from ordered_pairs
    group by tangle_name, root_id, message_id
),

neighbours as (
    select
        members.tangle_name,
        members.root_id,
        members.message_id,
        earlier.message_id as earlier_id,
        ordered_pairs.other_id is null as is_tie
    from members
    inner join members as earlier
        on
            members.tangle_name = earlier.tangle_name
            and members.root_id = earlier.root_id
            and members.thread_position = earlier.thread_position + 1
    left join ordered_pairs
        on
            members.tangle_name = ordered_pairs.tangle_name
            and members.root_id = ordered_pairs.root_id
            and members.message_id = ordered_pairs.message_id
            and earlier.message_id = ordered_pairs.other_id
)

select
    members.message_id,
    members.concurrent_count,
    members.tie_broken_with,
    related.related_count,
    neighbours.earlier_id
from members
left join related
    on
        members.tangle_name = related.tangle_name
        and members.root_id = related.root_id
        and members.message_id = related.message_id
left join neighbours
    on
        members.tangle_name = neighbours.tangle_name
        and members.root_id = neighbours.root_id
        and members.message_id = neighbours.message_id
where
    not members.concurrent_count <=> members.member_count - 1 - coalesce(related.related_count, 0)
    or not members.tie_broken_with <=> if(neighbours.is_tie, neighbours.earlier_id, null)
