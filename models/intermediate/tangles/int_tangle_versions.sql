with claims as (
    select
        root_id,
        tangle_name,
        message_id,
        author,
        cast(sequence as string) as sequence,
        cast(asserted_at as string) as asserted_at,
        cast(received_at as string) as received_at,
        to_json(struct(previous)) as previous,
        cast(is_root as string) as is_root,
        claim_error
    from {{ ref('int_tangle_claims') }}
),

-- A root that is in the log, whatever it is there, is another case than one that is missing.
known_roots as (
    select distinct claims.root_id
    from claims
    left semi join {{ ref('ssb_messages') }} as messages on claims.root_id = messages.message_id
),

-- The chain of a feed is a tangle as well, and changes with the feed.
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
        *
    from claims

    union all

    select
        'known_root' as kind,
        root_id,
        null as tangle_name,
        null as message_id,
        null as author,
        null as sequence,
        null as asserted_at,
        null as received_at,
        null as previous,
        null as is_root,
        null as claim_error
    from known_roots

    union all

    select
        'feed' as kind,
        root_id,
        digest as tangle_name,
        null as message_id,
        null as author,
        null as sequence,
        null as asserted_at,
        null as received_at,
        null as previous,
        null as is_root,
        null as claim_error
    from feeds
),

{{ group_versions('inputs', 'root_id', [
    'kind', 'tangle_name', 'message_id', 'author', 'sequence', 'asserted_at', 'received_at', 'previous', 'is_root', 'claim_error'
]) }}
