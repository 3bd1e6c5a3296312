with messages as (
    select
        message_id,
        author,
        sequence,
        asserted_at,
        received_at,
        content_type,
        tangle_claims
    from {{ ref('ssb_messages') }}
    where is_usable
),

claims as (
    select
        claim.tangle_name,
        if(claim.is_root, messages.message_id, claim.root_id) as root_id,
        messages.message_id,
        messages.author,
        messages.sequence,
        messages.asserted_at,
        messages.received_at,
        messages.content_type,
        claim.previous,
        claim.is_root,
        -- A message cannot know its own id, so one that names itself as its root is no candidate of anything.
        if(not claim.is_root and claim.root_id = messages.message_id, 'malformed_tangle', claim.defect) as defect
    from messages
        lateral view explode(messages.tangle_claims) exploded as claim
),

-- A reply of the old style names its root; the root itself says nothing.
legacy_roots as (
    select distinct root_id
    from claims
    where tangle_name = 'legacy_thread' and defect is null
)

select
    tangle_name,
    if(root_id = message_id and not is_root, null, root_id) as root_id,
    message_id,
    author,
    sequence,
    asserted_at,
    received_at,
    previous,
    is_root,
    case
        when defect is not null then defect
        when tangle_name = 'epoch' and not content_type <=> 'group/init' then 'wrong_type'
        when tangle_name = 'group' and is_root and not content_type <=> 'group/init' then 'wrong_type'
    end as claim_error
from claims

union all

select
    'legacy_thread' as tangle_name,
    messages.message_id as root_id,
    messages.message_id,
    messages.author,
    messages.sequence,
    messages.asserted_at,
    messages.received_at,
    cast(null as array<string>) as previous,
    true as is_root,
    cast(null as string) as claim_error
from messages
left semi join legacy_roots on messages.message_id = legacy_roots.root_id
