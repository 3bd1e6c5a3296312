{{ config(enabled=has_groups()) }}

{#- Two tangles with this many tips fit into a message with 16 recipients, sealed or not. Other tips remain for a later
    message. -#}
{% set tip_limit = 24 -%}

with epochs_and_forks as (
    select
        group_id,
        epoch_id,
        array(epoch_id) as previous_epochs,
        previous_epochs as earlier_epochs
    from {{ ref('group_epochs') }}

    union all

    -- The init that merges the tips of a fork.
    select
        group_id,
        cast(null as string) as epoch_id,
        array_sort(collect_list(epoch_id)) as previous_epochs,
        cast(null as array<string>) as earlier_epochs
    from {{ ref('group_epochs') }}
    where is_tip
    group by group_id
    having count(*) > 1
),

-- In these two tangles peers follow messages of any schema; in the tangle `epoch` they follow only epochs.
tangles_of_groups as (
    select
        tangle_name,
        root_id,
        slice(tips, 1, {{ tip_limit }}) as previous,
        greatest(size(tips) - {{ tip_limit }}, 0) as unlisted_count
    from {{ ref('tangles') }}
    where tangle_name in ('group', 'members')
),

links as (
    select
        epochs_and_forks.group_id,
        epochs_and_forks.epoch_id,
        epochs_and_forks.earlier_epochs,
        named_struct('root', epochs_and_forks.group_id, 'previous', of_group.previous) as in_group,
        named_struct(
            'root', epochs_and_forks.group_id,
            'previous', slice(epochs_and_forks.previous_epochs, 1, {{ tip_limit }})
        ) as in_epoch,
        named_struct('root', epochs_and_forks.epoch_id, 'previous', of_members.previous) as in_members,
        named_struct('root', cast(null as string), 'previous', cast(null as array<string>)) as as_root,
        of_group.unlisted_count as unlisted_in_group,
        greatest(size(epochs_and_forks.previous_epochs) - {{ tip_limit }}, 0) as unlisted_in_epoch,
        of_members.unlisted_count as unlisted_in_members
    from epochs_and_forks
    left join tangles_of_groups as of_group
        on epochs_and_forks.group_id = of_group.root_id and of_group.tangle_name = 'group'
    left join tangles_of_groups as of_members
        on epochs_and_forks.epoch_id = of_members.root_id and of_members.tangle_name = 'members'
)

select
    group_id,
    epoch_id,
    'init' as kind,
    map('group', in_group, 'epoch', in_epoch, 'members', as_root) as tangles,
    cast(null as array<string>) as publish_in,
    unlisted_in_group + unlisted_in_epoch as unlisted_count
from links

union all

select
    group_id,
    epoch_id,
    exploded.kind,
    map('group', in_group, 'members', in_members) as tangles,
    -- The members of an earlier epoch read the add; an exclude is for the members of its own.
    if(exploded.kind = 'add', earlier_epochs, array(epoch_id)) as publish_in,
    unlisted_in_group + unlisted_in_members as unlisted_count
from links
    lateral view explode(array('add', 'exclude')) exploded as kind
where epoch_id is not null
