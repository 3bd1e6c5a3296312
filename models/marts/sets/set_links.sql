{{ config(enabled=has_log('pzp_log')) }}

with members as (
    select
        set_id,
        message_id,
        depth,
        backlink_depth
    from {{ ref('int_set_messages') }}
    where is_valid or is_held
),

listed_ids as (
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
    listed_ids.set_id,
    listed_ids.message_id,
    listed_ids.other_id,
    if(
        listed_ids.list_name = 'prev' and targets.depth = members.backlink_depth and targets.depth < members.depth - 1,
        'lipmaa',
        listed_ids.list_name
    ) as kind,
    targets.message_id is not null as is_known
from listed_ids
inner join members on listed_ids.set_id = members.set_id and listed_ids.message_id = members.message_id
left join members as targets on listed_ids.set_id = targets.set_id and listed_ids.other_id = targets.message_id
where listed_ids.other_id is not null
