{{ config(enabled=has_log('ssb_log', 'event_log')) }}

{%- set has_events = has_log('event_log') -%}
{%- set lines = ref('stg_events__lines') if has_events else select_no_rows({
    'source_file': 'string', 'line': 'bigint', 'timeline_id': 'string', 'event_id': 'string',
    'causes': 'array<string>', 'author': 'string', 'arrival': 'bigint', 'detail': 'string'
}) -%}

with events as (
    select
        timeline_id,
        'event' as kind,
        event_id,
        to_json(struct(causes, author, arrival, source_file, line)) as said
    from {{ lines }}
    where detail is null
),
{%- if has_log('ssb_log') %}

-- The members of a tangle follow from its version; their causes also from the verified chains of feeds.
tangles as (
    select distinct
        {{ tangle_timeline_id('claims.tangle_name', 'claims.root_id') }} as timeline_id,
        versions.digest
    from {{ ref('int_tangle_claims') }} as claims
    inner join {{ ref('int_tangle_versions') }} as versions on claims.root_id = versions.group_key
),

chained as (
    select
        {{ tangle_timeline_id('claims.tangle_name', 'claims.root_id') }} as timeline_id,
        claims.message_id
    from {{ ref('int_tangle_claims') }} as claims
    inner join {{ ref('feed_messages') }} as chain on claims.message_id = chain.message_id
    where chain.in_chain and claims.root_id is not null
),

log_messages as (
    select
        message_id,
        to_json(struct(author, received_at, previous_id, tangle_claims)) as said
    from {{ ref('ssb_messages') }}
    where is_usable and {{ var('log_timeline') }}
),
{%- endif %}

inputs as (
    select * from events
    {%- if has_log('ssb_log') %}

    union all

    select
        timeline_id,
        'tangle' as kind,
        digest as event_id,
        cast(null as string) as said
    from tangles

    union all

    select
        timeline_id,
        'chained' as kind,
        message_id as event_id,
        cast(null as string) as said
    from chained

    union all

    select
        'ssb:log' as timeline_id,
        'message' as kind,
        message_id as event_id,
        said
    from log_messages
    {%- endif %}
),

{{ group_versions('inputs', 'timeline_id', ['kind', 'event_id', 'said'], has_large_groups=true) }}
