{{ config(enabled=has_log('ssb_log', 'event_log')) }}

with inputs as (
    {%- if has_log('event_log') %}
    select
        timeline_id,
        'event' as kind,
        event_id,
        to_json(struct(causes, author, arrival, source_file, line)) as said
    from {{ ref('stg_events__lines') }}
    where detail is null
    {%- endif %}
    {%- if has_log('event_log') and has_log('ssb_log') %}

    union all
    {%- endif %}
    {%- if has_log('ssb_log') %}

    -- The members of a tangle follow from its version; their causes also from the verified chains of feeds.
    select distinct
        {{ format_tangle_id('claims.tangle_name', 'claims.root_id') }} as timeline_id,
        'tangle' as kind,
        versions.digest as event_id,
        cast(null as string) as said
    from {{ ref('int_tangle_claims') }} as claims
    inner join {{ ref('int_tangle_versions') }} as versions on claims.root_id = versions.group_key

    union all

    select
        {{ format_tangle_id('claims.tangle_name', 'claims.root_id') }} as timeline_id,
        'chained' as kind,
        claims.message_id as event_id,
        cast(null as string) as said
    from {{ ref('int_tangle_claims') }} as claims
    inner join {{ ref('feed_messages') }} as chain on claims.message_id = chain.message_id
    where chain.in_chain and claims.root_id is not null

    -- The messages of the whole log follow from the versions of feeds, and their claims from those of tangles.
    {%- for kind, versions in [('feed', ref('int_feed_versions')), ('claims', ref('int_tangle_versions'))] %}

    union all

    select
        'ssb:log' as timeline_id,
        '{{ kind }}' as kind,
        group_key as event_id,
        digest as said
    from {{ versions }}
    where not is_gone and {{ var('log_timeline') != false }}
    {%- endfor %}
    {%- endif %}
),

{{ group_versions('inputs', 'timeline_id', ['kind', 'event_id', 'said']) }}
