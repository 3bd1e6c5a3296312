{{ config(enabled=has_log('ssb_log')) }}

-- Join keys start with message ids: Spark sorts by the first key, and most tangles share a name.
with all_clocks as (
    select * from {{ ref('tangle_clocks') }}
    where {{ is_changed('root_id', ref('int_tangle_versions')) }}
),

all_ancestors as (
    select * from {{ ref('tangle_ancestors') }}
    where {{ is_changed('root_id', ref('int_tangle_versions')) }}
),

tangles_with_clocks as (
    select distinct
        tangle_name,
        root_id
    from all_clocks
),

-- Tangles too large for clocks are left out.
members_with_clocks as (
    select
        members.tangle_name,
        members.root_id,
        members.message_id,
        members.author,
        members.sequence,
        members.own_id,
        members.own_sequence,
        count(*) over (
            partition by members.root_id, members.author, members.tangle_name, members.sequence
        ) > 1 as is_forked
    from {{ ref('int_tangle_own_messages') }} as members
    left semi join tangles_with_clocks
        on members.tangle_name = tangles_with_clocks.tangle_name and members.root_id = tangles_with_clocks.root_id
    where members.has_clocks
),

listed_previous as (
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

-- In tangles with ancestor pairs: each member should follow every earlier message of its author, and should not list a
-- message that the author's latest earlier message follows.
checked_pairs as (
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
    from listed_previous
    where not has_clocks
),

faults_by_pairs as (
    select
        checked_pairs.tangle_name,
        checked_pairs.root_id,
        checked_pairs.message_id,
        checked_pairs.fault,
        checked_pairs.other_id
    from checked_pairs
    left join all_ancestors as ancestors
        on
            checked_pairs.follower_id = ancestors.message_id
            and checked_pairs.other_id = ancestors.ancestor_id
            and checked_pairs.root_id = ancestors.root_id
            and checked_pairs.tangle_name = ancestors.tangle_name
    where (checked_pairs.fault = 'own_message_left_out') = (ancestors.message_id is null)
),

-- In tangles with clocks: each member should follow its author's latest earlier message, and should not list a message
-- that this message follows.
checked_clocks as (
    select
        tangle_name,
        root_id,
        message_id,
        'own_message_left_out' as fault,
        message_id as follower_id,
        own_id as other_id,
        author,
        own_sequence as other_sequence,
        is_forked
    from members_with_clocks

    union all

    select
        listed_previous.tangle_name,
        listed_previous.root_id,
        listed_previous.message_id,
        'previous_not_tip' as fault,
        listed_previous.own_id as follower_id,
        listed_previous.previous_id as other_id,
        previous.author,
        previous.sequence as other_sequence,
        false as is_forked
    from listed_previous
    inner join members_with_clocks as previous
        on
            listed_previous.previous_id = previous.message_id
            and listed_previous.root_id = previous.root_id
            and listed_previous.tangle_name = previous.tangle_name
    where listed_previous.has_clocks
),

-- Only some of the clock entries are needed. Spark can broadcast the checks in this join, but not in the next one.
needed_clocks as (
    select all_clocks.*
    from all_clocks
    left semi join checked_clocks
        on
            all_clocks.message_id = checked_clocks.follower_id
            and all_clocks.author = checked_clocks.author
            and all_clocks.root_id = checked_clocks.root_id
            and all_clocks.tangle_name = checked_clocks.tangle_name
),

clock_entries as (
    select
        checked_clocks.*,
        coalesce(checked_clocks.other_sequence <= clocks.sequence, false) as follows
    from checked_clocks
    left join needed_clocks as clocks
        on
            checked_clocks.follower_id = clocks.message_id
            and checked_clocks.author = clocks.author
            and checked_clocks.root_id = clocks.root_id
            and checked_clocks.tangle_name = clocks.tangle_name
),

-- The clocks show exactly which messages of an author are followed only if the author is orderly: without forks, and
-- each message follows the author's latest earlier one.
judged_entries as (
    select
        *,
        bool_and(
            fault <> 'own_message_left_out' or not is_forked and (other_id is null or follows)
        ) over (partition by root_id, author, tangle_name) as is_orderly
    from clock_entries
),

faults_by_clocks as (
    select
        tangle_name,
        root_id,
        message_id,
        fault,
        other_id
    from judged_entries
    where other_id is not null and if(fault = 'own_message_left_out', not follows, follows and is_orderly)
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
        fault,
        other_id
    from faults_by_clocks

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
