-- The input rows of each root, as texts: its claims, whether the log has the root, and the feed that begins with it.
with claims as (
    select
        root_id,
        to_json(struct(*)) as row_text
    from {{ ref('int_tangle_claims') }}
),

-- tangles.root_status depends on whether the log has the root at all.
roots_in_log as (
    select distinct claims.root_id
    from claims
    left semi join {{ ref('ssb_messages') }} as messages on claims.root_id = messages.message_id
),

feeds as (
    select
        roots.message_id as root_id,
        versions.digest
    from {{ ref('feed_messages') }} as roots
    inner join {{ ref('int_feed_versions') }} as versions on roots.author = versions.group_key
    where roots.in_chain and roots.sequence = 1
),

inputs as (
    select
        'claim' as kind,
        root_id,
        row_text
    from claims

    union all

    select
        'known_root' as kind,
        root_id,
        cast(null as string) as row_text
    from roots_in_log

    union all

    select
        'feed' as kind,
        root_id,
        digest as row_text
    from feeds
),

{{ group_versions('inputs', 'root_id', ['kind', 'row_text']) }}
