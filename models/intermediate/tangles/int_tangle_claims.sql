{{ config(enabled=has_log('ssb_log')) }}

with usable_claims as (
    select
        messages.message_id,
        messages.author,
        messages.sequence,
        messages.asserted_ms,
        messages.received_ms,
        messages.content_type,
        exploded.claim
    from {{ ref('ssb_messages') }} as messages
        lateral view explode(messages.tangle_claims) exploded as claim
    where messages.is_usable
),

-- In the legacy thread format a reply names its root, but the root itself makes no claim.
legacy_roots as (
    select messages.*
    from {{ ref('ssb_messages') }} as messages
    left semi join usable_claims as replies
        on
            messages.message_id = replies.claim.root_id
            and replies.message_id != replies.claim.root_id
            and replies.claim.tangle_name = 'ssb:legacy_thread'
            and replies.claim.defect is null
    where messages.is_usable
),

-- Tangles without a row take messages of every author.
writers as (
    select
        tangle_name,
        root_id,
        collect_list(writer) as writers
    from {{ ref('int_tangle_writers') }}
    group by tangle_name, root_id
),

claims as (
    select * from usable_claims

    union all

    select
        message_id,
        author,
        sequence,
        asserted_ms,
        received_ms,
        content_type,
        named_struct(
            'tangle_name', 'ssb:legacy_thread',
            'root_id', cast(null as string),
            'previous', cast(null as array<string>),
            'is_root', true,
            'defect', cast(null as string)
        ) as claim
    from legacy_roots
)

select
    claim.tangle_name,
    case
        when claim.is_root then claims.message_id
        when claim.root_id != claims.message_id then claim.root_id
    end as root_id,
    claims.message_id,
    claims.author,
    claims.sequence,
    claims.asserted_ms,
    claims.received_ms,
    claim.previous,
    claim.is_root,
    case
        -- A message cannot contain its own id: a claim that names its own message as root is malformed.
        when claim.root_id = claims.message_id and not claim.is_root then 'malformed_tangle'
        when claim.defect is not null then claim.defect
        when types.previous_rule = 'one_member' and size(array_distinct(claim.previous)) > 1 then 'malformed_tangle'
        when
            not coalesce(
                array_contains(
                    if(claim.is_root, types.root_content_types, types.content_types),
                    coalesce(claims.content_type, '')
                ),
                true
            )
            then 'wrong_type'
        when not claim.is_root and not array_contains(writers.writers, claims.author) then 'not_a_writer'
    end as claim_error
from claims
left join {{ ref('tangle_types') }} as types on claim.tangle_name = types.tangle_name
left join writers on claim.tangle_name = writers.tangle_name and claim.root_id = writers.root_id
