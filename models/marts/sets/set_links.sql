with members as (
    select
        set_id,
        message_id,
        depth,
        backlink_depth
    from {{ ref('int_set_messages') }}
    where is_valid or is_held
),

named as (
    select
        set_id,
        message_id,
        'prev' as list_name,
        explode(array_distinct(prev)) as other_id
    from {{ ref('int_set_entries') }}
    where {{ is_changed('set_id', ref('int_set_versions')) }}
    union all
    select
        set_id,
        message_id,
        'supersedes' as list_name,
        explode(array_distinct(supersedes)) as other_id
    from {{ ref('int_set_entries') }}
    where {{ is_changed('set_id', ref('int_set_versions')) }}
)

select
    named.set_id,
    named.message_id,
    named.other_id,
    if(
        named.list_name = 'prev' and targets.depth = members.backlink_depth and targets.depth < members.depth - 1,
        'lipmaa',
        named.list_name
    ) as kind,
    targets.message_id is not null as is_known
from named
inner join members on named.set_id = members.set_id and named.message_id = members.message_id
left join members as targets on named.set_id = targets.set_id and named.other_id = targets.message_id
where named.other_id is not null
