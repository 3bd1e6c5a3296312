{{ config(enabled=has_groups()) }}

with claims as (
    select
        messages.message_id,
        messages.author,
        messages.sequence,
        messages.group_claim.kind,
        messages.group_claim.invalid_reason,
        messages.group_claim.group_uri,
        messages.group_claim.group_root,
        messages.group_claim.epoch_root,
        messages.group_claim.previous_epochs,
        messages.group_claim.epoch_id as named_epoch,
        messages.group_claim.key_fingerprint,
        messages.group_claim.feeds,
        messages.group_claim.author_root,
        messages.group_claim.unchecked_count,
        messages.group_claim.sealed_with
    from {{ ref('ssb_messages') }} as messages
    where messages.is_usable and messages.group_claim is not null
),

judged as (
    select
        *,
        kind in ('root_init', 'epoch_init') as is_init,
        case
            when invalid_reason is not null then null
            when kind in ('root_init', 'epoch_init') then message_id
            else named_epoch
        end as epoch_id
    from claims
),

-- All valid inits; int_group_results finds the ones that the root init reaches.
epochs as (
    select
        epoch_id,
        coalesce(epoch_root, message_id) as group_id
    from judged
    where is_init and invalid_reason is null
),

-- Membership in a tangle is independent of the schema of a message.
members as (
    select
        tangle_name,
        root_id,
        message_id
    from {{ ref('tangle_messages') }}
    where is_member and tangle_name in ('epoch', 'members')
)

select
    judged.message_id,
    judged.author,
    judged.sequence,
    judged.kind,
    judged.invalid_reason,
    -- A message in the form of peers has a key or names its group.
    if(
        judged.invalid_reason is null and coalesce(judged.key_fingerprint, judged.group_uri) is null,
        'document', 'peers'
    ) as form,
    epochs.group_id,
    judged.epoch_id,
    members.root_id as connected_root,
    members.root_id is not null as is_connected,
    judged.group_uri,
    coalesce(judged.group_root, if(judged.kind = 'root_init', epochs.group_id, null)) as group_root,
    judged.previous_epochs,
    judged.key_fingerprint,
    judged.feeds,
    judged.author_root,
    judged.unchecked_count,
    judged.sealed_with
from judged
left join epochs on judged.epoch_id = epochs.epoch_id
left join members
    on
        judged.message_id = members.message_id
        and members.tangle_name = if(judged.is_init, 'epoch', 'members')
