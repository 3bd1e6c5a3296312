with marks as (
    select
        group_id,
        epoch_id as message_id,
        previous_epochs,
        cast(null as string) as excluded_epoch
    from {{ ref('group_epochs') }}

    union all

    select
        group_id,
        message_id,
        cast(null as array<string>) as previous_epochs,
        epoch_id as excluded_epoch
    from {{ ref('group_messages') }}
    where kind = 'exclude' and set_aside_reason is null
),

-- Nobody is charged with anything elsewhere.
groups_with_both as (
    select group_id
    from marks
    group by group_id
    having count(excluded_epoch) > 0 and max(size(previous_epochs)) > 0
),

members as (
    select
        messages.root_id as group_id,
        messages.message_id,
        claims.previous,
        messages.depth
    from {{ ref('tangle_messages') }} as messages
    inner join {{ ref('int_tangle_claims') }} as claims
        on
            messages.message_id = claims.message_id
            and messages.root_id = claims.root_id
            and messages.tangle_name = claims.tangle_name
    where messages.tangle_name = 'group' and messages.is_member
),

rows_of_groups as (
    select
        coalesce(members.group_id, marks.group_id) as group_id,
        coalesce(members.message_id, marks.message_id) as message_id,
        members.previous,
        members.message_id is not null as is_member,
        members.depth,
        marks.previous_epochs,
        marks.excluded_epoch
    from members
    full join marks on members.group_id = marks.group_id and members.message_id = marks.message_id
)

select rows_of_groups.*
from rows_of_groups
left semi join groups_with_both on rows_of_groups.group_id = groups_with_both.group_id
