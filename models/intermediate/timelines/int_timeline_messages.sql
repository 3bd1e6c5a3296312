{{ config(enabled=has_message_timelines()) }}

{#- Forks may be of any width; a message follows at most so many of them. -#}
{% set widest_fork = 16 -%}

with members as (
    select
        {{ tangle_timeline_id('levels.tangle_name', 'levels.root_id') }} as timeline_id,
        levels.message_id,
        levels.author,
        levels.sequence,
        levels.received_at,
        if(levels.is_root, cast(array() as array<string>), array_distinct(levels.previous)) as listed,
        chain.message_id is not null as is_in_chain
    from {{ ref('int_tangle_levels') }} as levels
    left join {{ ref('int_feed_chain') }} as chain on levels.message_id = chain.message_id
    where levels.set_aside_reason is null
),

-- What an author has in a tangle: one message at each sequence, unless the feed is forked.
places as (
    select
        timeline_id,
        author,
        sequence,
        slice(array_sort(collect_list(message_id)), 1, {{ widest_fork }}) as message_ids,
        bool_and(is_in_chain) as are_in_chain
    from members
    group by timeline_id, author, sequence
),

feeds as (
    select
        timeline_id,
        author,
        sequence,
        coalesce(
            lag(message_ids) over (partition by timeline_id, author order by sequence),
            cast(array() as array<string>)
        ) as latest,
        coalesce(
            are_in_chain and lag(are_in_chain) over (partition by timeline_id, author order by sequence),
            false
        ) as are_in_chain
    from places
),

of_tangles as (
    select
        members.timeline_id,
        members.message_id,
        members.author,
        members.received_at,
        members.listed,
        feeds.latest,
        -- Both are in the verified chain: nothing can prove the feed wrong.
        feeds.are_in_chain as is_proven
    from members
    inner join feeds
        on
            members.timeline_id = feeds.timeline_id
            and members.author = feeds.author
            and members.sequence = feeds.sequence
),

of_log as (
    select
        'ssb:log' as timeline_id,
        message_id,
        author,
        received_at,
        array_distinct(
            flatten(
                transform(
                    filter(tangle_claims, claim -> claim.defect is null),
                    claim -> array_compact(concat(array(claim.root_id), coalesce(claim.previous, array())))
                )
            )
        ) as listed,
        array_compact(array(previous_id)) as latest,
        false as is_proven
    from {{ ref('ssb_messages') }}
    where is_usable and {{ var('log_timeline') }}
),

messages as (
    select
        timeline_id,
        message_id,
        author,
        received_at,
        is_proven,
        true as is_tangle,
        -- Whatever a message says, it does not follow itself.
        array_remove(listed, message_id) as listed,
        array_remove(latest, message_id) as latest
    from of_tangles
    union all
    select
        timeline_id,
        message_id,
        author,
        received_at,
        is_proven,
        false as is_tangle,
        array_remove(listed, message_id) as listed,
        array_remove(latest, message_id) as latest
    from of_log
)

select
    timeline_id,
    message_id as event_id,
    array_union(listed, latest) as causes,
    array_except(latest, listed) as feed_causes,
    array_intersect(latest, listed) as both_causes,
    if(is_proven, cast(array() as array<string>), array_except(latest, listed)) as weak_causes,
    author,
    cast(
        row_number() over (partition by timeline_id order by received_at asc nulls last, message_id asc) as bigint
    ) as arrival,
    is_tangle
from messages
