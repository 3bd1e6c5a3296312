{{ config(enabled=has_log('pzp_log')) }}

with messages as (
    select
        message_id,
        tangles,
        sigkey,
        key_action,
        key,
        is_signing_key,
        may_add_keys,
        may_delete_keys,
        coalesce(data_kind in ('object', 'string'), false) as has_data
    from {{ ref('stg_pzp__lines') }}
    where is_usable and account = 'self'
),

claims as (
    select
        message_id as account_id,
        true as is_root,
        cast(0 as bigint) as depth,
        cast(null as array<string>) as prev,
        cast(null as string) as defect,
        *
    from messages
    where size(tangles) = 0

    union all

    select
        tangle.root_id as account_id,
        false as is_root,
        tangle.depth,
        tangle.prev,
        tangle.defect,
        messages.*
    from messages
        lateral view explode(messages.tangles) exploded as tangle
)

-- Copies of a message differ in the signing key and in the presence of the data.
select
    account_id,
    message_id,
    is_root,
    max(depth) as depth,
    max(prev) as prev,
    sort_array(collect_set(sigkey)) as signers,
    max(key_action) as key_action,
    max(key) as key,
    max(is_signing_key) as is_signing_key,
    max(may_add_keys) as may_add_keys,
    max(may_delete_keys) as may_delete_keys,
    not max(has_data) as is_erased
from claims
where is_root or (defect is null and account_id <> message_id)
group by account_id, message_id, is_root
