{#- CTEs, of which the last has the members of tangles as arrivals of the tangles' timelines. A member follows what it lists
    in the tangle, and the author's members of the greatest lower sequence. -#}
{% macro define_tangle_arrivals() -%}
{#- A fork may have any number of messages; a message follows at most so many of them. -#}
{%- set widest_fork = 16 -%}
placed as (
    select
        {{ format_tangle_id() }} as timeline_id,
        *
    from {{ ref('tangle_messages') }}
    where
        is_member
        and {{ is_changed(format_tangle_id(), ref('int_timeline_versions')) }}
),

members as (
    select
        placed.timeline_id,
        placed.message_id,
        placed.author,
        placed.sequence,
        placed.received_ms,
        if(placed.is_root, cast(array() as array<string>), array_distinct(claims.previous)) as listed,
        coalesce(chain.in_chain, false) as is_in_chain
    from placed
    inner join {{ ref('int_tangle_claims') }} as claims
        on
            placed.message_id = claims.message_id
            and placed.root_id = claims.root_id
            and placed.tangle_name = claims.tangle_name
    left join {{ ref('feed_messages') }} as chain on placed.message_id = chain.message_id
),

numbered as (
    select
        timeline_id,
        author,
        sequence,
        message_id,
        is_in_chain,
        row_number() over (partition by timeline_id, author, sequence order by message_id) as fork_number
    from members
),

-- The messages of an author in a tangle by sequence: one at each, unless the feed is forked.
places as (
    select
        timeline_id,
        author,
        sequence,
        array_sort(collect_list(message_id) filter (where fork_number <= {{ widest_fork }})) as message_ids,
        bool_and(is_in_chain) as are_in_chain
    from numbered
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
        -- Both messages are in the verified chain, so the feed's order is proven.
        coalesce(
            are_in_chain and lag(are_in_chain) over (partition by timeline_id, author order by sequence),
            false
        ) as is_proven
    from places
),

tangle_arrivals as (
    select
        members.timeline_id,
        members.message_id as event_id,
        {{ merge_causes('members.listed', 'feeds.latest', "if(feeds.is_proven, 'feed', 'unproven_feed')") }},
        cast(array() as array<string>) as left_out_causes,
        members.author,
        cast(null as bigint) as arrival,
        members.received_ms,
        cast(null as string) as refusal,
        cast(null as string) as source_file,
        cast(null as bigint) as line
    from members
    inner join feeds
        on
            members.timeline_id = feeds.timeline_id
            and members.author = feeds.author
            and members.sequence = feeds.sequence
)
{%- endmacro %}
