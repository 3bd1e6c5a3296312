{{ config(enabled=has_groups()) }}

with epochs_and_excludes as (
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

-- Foreign excludes occur only in groups with both an exclude and an epoch that follows another.
groups_with_both as (
    select group_id
    from epochs_and_excludes
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

links as (
    select
        coalesce(members.group_id, epochs_and_excludes.group_id) as group_id,
        coalesce(members.message_id, epochs_and_excludes.message_id) as message_id,
        members.previous,
        members.message_id is not null as is_member,
        members.depth,
        epochs_and_excludes.previous_epochs,
        epochs_and_excludes.excluded_epoch
    from members
    full join epochs_and_excludes
        on
            members.group_id = epochs_and_excludes.group_id
            and members.message_id = epochs_and_excludes.message_id
)

select links.*
from links
left semi join groups_with_both on links.group_id = groups_with_both.group_id
