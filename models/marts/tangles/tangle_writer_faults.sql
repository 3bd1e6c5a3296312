-- In joins ids of messages come first: Spark sorts by the first key above all, and most tangles share a name.
with all_clocks as (
    select * from {{ ref('tangle_clocks') }}
    where {{ is_changed('root_id', ref('int_tangle_versions')) }}
),

all_ancestors as (
    select * from {{ ref('tangle_ancestors') }}
    where {{ is_changed('root_id', ref('int_tangle_versions')) }}
),

with_clocks as (
    select distinct
        tangle_name,
        root_id
    from all_clocks
),

-- A tangle that is too large even for clocks is not judged.
members_with_clocks as (
    select
        members.tangle_name,
        members.root_id,
        members.message_id,
        members.author,
        members.sequence,
        members.own_id,
        members.own_sequence
    from {{ ref('int_tangle_own_messages') }} as members
    left semi join with_clocks
        on members.tangle_name = with_clocks.tangle_name and members.root_id = with_clocks.root_id
    where members.has_clocks
),

listed as (
    select
        members.tangle_name,
        members.root_id,
        members.message_id,
        members.has_clocks,
        members.own_id,
        edge.previous_id
    from {{ ref('int_tangle_own_messages') }} as members
        lateral view explode(members.previous) edge as previous_id
),

-- In tangles with ancestor pairs: whom somebody should follow, and whom nobody should list if their own message before
-- follows it.
asked as (
    select
        members.tangle_name,
        members.root_id,
        members.message_id,
        'own_message_left_out' as fault,
        members.message_id as follower_id,
        earlier.message_id as other_id
    from {{ ref('int_tangle_own_messages') }} as members
    inner join {{ ref('int_tangle_own_messages') }} as earlier
        on
            members.author = earlier.author
            and members.root_id = earlier.root_id
            and members.tangle_name = earlier.tangle_name
            and members.sequence > earlier.sequence
    where not members.has_clocks

    union all

    select
        tangle_name,
        root_id,
        message_id,
        'previous_not_tip' as fault,
        own_id as follower_id,
        previous_id as other_id
    from listed
    where not has_clocks
),

faults_by_pairs as (
    select
        asked.tangle_name,
        asked.root_id,
        asked.message_id,
        asked.fault,
        asked.other_id
    from asked
    left join all_ancestors as ancestors
        on
            asked.follower_id = ancestors.message_id
            and asked.other_id = ancestors.ancestor_id
            and asked.root_id = ancestors.root_id
            and asked.tangle_name = ancestors.tangle_name
    where (asked.fault = 'own_message_left_out') = (ancestors.message_id is null)
),

-- In tangles with clocks: those who do not follow what they wrote last.
left_out as (
    select
        members.tangle_name,
        members.root_id,
        members.message_id,
        members.author,
        members.own_id as other_id
    from members_with_clocks as members
    left anti join all_clocks as clocks
        on
            members.message_id = clocks.message_id
            and members.author = clocks.author
            and members.root_id = clocks.root_id
            and members.tangle_name = clocks.tangle_name
            and members.own_sequence <= clocks.sequence
    where members.own_id is not null
),

authors_left_out as (
    select distinct
        tangle_name,
        root_id,
        author
    from left_out
),

-- Authors who always follow what they wrote last: of those a clock says exactly which messages are followed.
orderly_authors as (
    select
        members.tangle_name,
        members.root_id,
        members.author
    from members_with_clocks as members
    left anti join authors_left_out as negligent
        on
            members.author = negligent.author
            and members.root_id = negligent.root_id
            and members.tangle_name = negligent.tangle_name
    group by members.tangle_name, members.root_id, members.author
    having count(*) = count(distinct members.sequence)
),

not_tips as (
    select
        listed.tangle_name,
        listed.root_id,
        listed.message_id,
        listed.previous_id as other_id
    from listed
    inner join members_with_clocks as previous
        on
            listed.previous_id = previous.message_id
            and listed.root_id = previous.root_id
            and listed.tangle_name = previous.tangle_name
    inner join all_clocks as clocks
        on
            listed.own_id = clocks.message_id
            and previous.author = clocks.author
            and listed.root_id = clocks.root_id
            and listed.tangle_name = clocks.tangle_name
            and previous.sequence <= clocks.sequence
    left semi join orderly_authors
        on
            previous.author = orderly_authors.author
            and previous.root_id = orderly_authors.root_id
            and previous.tangle_name = orderly_authors.tangle_name
    where listed.has_clocks
),

faults as (
    select
        tangle_name,
        root_id,
        message_id,
        fault,
        other_id
    from faults_by_pairs

    union all

    select
        tangle_name,
        root_id,
        message_id,
        'own_message_left_out' as fault,
        other_id
    from left_out

    union all

    select
        tangle_name,
        root_id,
        message_id,
        'previous_not_tip' as fault,
        other_id
    from not_tips

    union all

    select
        tangle_name,
        root_id,
        message_id,
        'redundant_previous' as fault,
        other_id
    from {{ ref('int_tangle_own_messages') }}
        lateral view explode(redundant_previous) edge as other_id
)

select
    tangle_name,
    root_id,
    message_id,
    fault,
    array_sort(collect_set(other_id)) as message_ids
from faults
group by tangle_name, root_id, message_id, fault
