{{ config(enabled=has_log('pzp_log')) }}

with messages as (
    select * from {{ ref('int_pzp_messages') }}
),

moots as (
    select
        message_id,
        domain
    from messages
    where is_moot and is_usable
),

claims as (
    select
        tangle.root_id as set_id,
        messages.*,
        tangle.depth,
        tangle.prev,
        tangle.defect
    from messages
        lateral view explode(messages.tangles) exploded as tangle
),

set_claims as (
    select
        claims.*,
        moots.message_id is not null as has_root
    from claims
    left join moots on claims.set_id = moots.message_id
    where
        -- A message cannot contain its own hash.
        claims.set_id <> claims.message_id
        and ({{ is_set_domain('moots.domain') }} or {{ is_set_domain('claims.domain') }})
),

-- Ids that messages claim as roots; some belong to messages that cannot be roots.
claimed_roots as (
    select distinct set_id
    from set_claims
),

roots as (
    select
        messages.message_id as set_id,
        messages.*,
        if(messages.is_moot, cast(0 as bigint), null) as depth,
        cast(null as array<string>) as prev,
        cast(null as string) as defect,
        messages.is_moot and messages.is_usable as has_root
    from messages
    left join claimed_roots on messages.message_id = claimed_roots.set_id
    where
        claimed_roots.set_id is not null
        or (messages.is_moot and messages.is_usable and {{ is_set_domain('messages.domain') }})
),

entries as (
    select * from set_claims
    union all
    select * from roots
)

select
    set_id,
    message_id,
    account,
    domain,
    is_moot and is_usable and set_id = message_id as is_moot,
    depth,
    prev,
    defect,
    reject_reason,
    is_key_authorised,
    awaited_ids,
    has_data,
    add is not null as is_set_shape,
    add,
    del,
    supersedes,
    has_root
from entries
