{{ config(enabled=has_log('ssb_log')) }}

-- The input rows of each root, as texts: its claims, whether the log has the root and shows its content, the feed that
-- begins with it, and the contents and strategies of records.
with claims as (
    select
        tangle_name,
        root_id,
        message_id,
        to_json(struct(*)) as row_text
    from {{ ref('int_tangle_claims') }}
),

-- tangles.root_status depends on whether the log has the root at all, and whether its content is sealed.
roots_in_log as (
    select distinct
        claims.root_id,
        {{ is_sealed('messages') }} as is_sealed
    from claims
    inner join {{ ref('ssb_messages') }} as messages on claims.root_id = messages.message_id
),

feeds as (
    select
        roots.message_id as root_id,
        versions.digest
    from {{ ref('feed_messages') }} as roots
    inner join {{ ref('int_feed_versions') }} as versions on roots.author = versions.group_key
    where roots.in_chain and roots.sequence = 1
),

-- Copies of a decrypted message may have different contents with equal claims.
records as (
    select
        claims.root_id,
        to_json(
            struct(claims.tangle_name, claims.message_id, types.reducer, sha2(messages.content, 256) as content_digest)
        ) as row_text
    from claims
    inner join {{ ref('tangle_types') }} as types on claims.tangle_name = types.tangle_name
    inner join {{ ref('ssb_messages') }} as messages on claims.message_id = messages.message_id
    where types.reducer is not null
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
        cast(is_sealed as string) as row_text
    from roots_in_log

    union all

    select
        'feed' as kind,
        root_id,
        digest as row_text
    from feeds

    union all

    select
        'record' as kind,
        root_id,
        row_text
    from records
),

{{ group_versions('inputs', 'root_id', ['kind', 'row_text']) }}
