{{ config(enabled=has_log('ssb_log', 'event_log')) }}

{%- set lines = ref('stg_events__lines') if has_log('event_log') else select_no_rows({
    'source_file': 'string', 'line': 'bigint', 'timeline_id': 'string', 'event_id': 'string',
    'causes': 'array<string>', 'author': 'string', 'arrival': 'bigint', 'detail': 'string'
}) -%}
{#- A fork may have any number of messages; a message follows at most so many of them. -#}
{%- set widest_fork = 16 -%}
{%- set limit = var('max_previous') -%}

-- Timelines of the SSB log hold messages only.
with taken as (
    {%- if has_log('ssb_log') %}
    select {{ tangle_timeline_id() }} as timeline_id
    from {{ ref('tangle_messages') }}
    where is_member

    union all

    select 'ssb:log' as timeline_id
    from {{ ref('ssb_messages') }}
    where is_usable and {{ var('log_timeline') }}
    {%- else %}
    select * from {{ select_no_rows({'timeline_id': 'string'}) }}
    {%- endif %}
),

events as (
    select
        lines.timeline_id,
        lines.event_id,
        lines.causes,
        lines.author,
        lines.arrival,
        lines.source_file,
        lines.line
    from {{ lines }} as lines
    left anti join taken on lines.timeline_id = taken.timeline_id
    where lines.detail is null and {{ is_changed('lines.timeline_id', ref('int_timeline_versions')) }}
)
{%- if has_log('ssb_log') %},

placed as (
    select
        {{ tangle_timeline_id() }} as timeline_id,
        *
    from {{ ref('tangle_messages') }}
    where
        is_member
        and {{ is_changed(tangle_timeline_id(), ref('int_timeline_versions')) }}
),

members as (
    select
        placed.timeline_id,
        placed.message_id,
        placed.author,
        placed.sequence,
        placed.received_at,
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

-- The messages of an author in a tangle by sequence: one at each, unless the feed is forked.
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
        members.listed as counted,
        feeds.latest,
        -- Both messages are in the verified chain, so the feed's order is proven.
        feeds.are_in_chain as is_proven,
        true as is_tangle
    from members
    inner join feeds
        on
            members.timeline_id = feeds.timeline_id
            and members.author = feeds.author
            and members.sequence = feeds.sequence
),

claimed as (
    select
        *,
        filter(tangle_claims, claim -> claim.defect is null) as claims
    from {{ ref('ssb_messages') }}
    where
        is_usable
        and {{ var('log_timeline') }}
        and {{ is_changed("'ssb:log'", ref('int_timeline_versions')) }}
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
                    claims, claim -> array_compact(concat(array(claim.root_id), coalesce(claim.previous, array())))
                )
            )
        ) as listed,
        -- Every previous follows its root, so a root is a cause of its own only where it stands alone.
        array_distinct(
            flatten(
                transform(
                    claims,
                    claim -> if(
                        size(array_except(coalesce(claim.previous, array()), array(claim.root_id))) = 0,
                        array_compact(array(claim.root_id)),
                        array_except(claim.previous, array(claim.root_id))
                    )
                )
            )
        ) as counted,
        array_compact(array(previous_id)) as latest,
        false as is_proven,
        false as is_tangle
    from claimed
),

limited as (
    select
        *,
        -- Of the causes in the log's timeline, the backlink of the feed comes first, then the least ids that count,
        -- then roots that these imply. Its own id takes no place; the kernel leaves out that link.
        if(
            is_tangle or {{ limit is none }},
            cast(array() as array<string>),
            slice(
                array_remove(
                    concat(
                        array_sort(array_except(counted, latest)),
                        array_sort(array_except(array_except(listed, counted), latest))
                    ),
                    message_id
                ),
                {{ limit or 1 }} + 1 - size(array_remove(latest, message_id)),
                size(listed)
            )
        ) as beyond_limit
    from (
        select * from of_tangles
        union all
        select * from of_log
    ) as linked
),

messages as (
    select
        *,
        array_except(array_except(listed, latest), beyond_limit) as claimed_only,
        array_intersect(latest, listed) as in_both,
        array_except(latest, listed) as in_feed_only
    from limited
)
{%- endif %}

select
    timeline_id,
    event_id,
    causes,
    cast(null as array<string>) as cause_kinds,
    cast(null as array<string>) as left_out_causes,
    author,
    arrival,
    false as is_tangle,
    {% if var('max_previous') is none -%}
    cast(null as string)
    {%- else -%}
    if(size(array_remove(causes, event_id)) > {{ var('max_previous') }}, 'too_many_previous', null)
    {%- endif %} as refusal,
    source_file,
    line
from events
{%- if has_log('ssb_log') %}

union all

select
    timeline_id,
    message_id as event_id,
    concat(claimed_only, in_both, in_feed_only) as causes,
    concat(
        array_repeat('tangle', size(claimed_only)),
        array_repeat('both', size(in_both)),
        array_repeat(if(is_proven, 'feed', 'unproven_feed'), size(in_feed_only))
    ) as cause_kinds,
    array_intersect(beyond_limit, counted) as left_out_causes,
    author,
    cast(
        row_number() over (partition by timeline_id order by received_at asc nulls last, message_id asc) as bigint
    ) as arrival,
    is_tangle,
    cast(null as string) as refusal,
    cast(null as string) as source_file,
    cast(null as bigint) as line
from messages
{%- endif %}
