{{ config(enabled=has_log('pzp_log')) }}

{#- For each account: its messages, the ids that belong to other accounts, and the keys that signed for it. -#}
with signing_keys as (
    select distinct
        account as account_id,
        account_tips,
        sigkey
    from {{ ref('stg_pzp__lines') }}
    where sigkey is not null and not is_moot and account not in ('self', 'any')
),

named as (
    select
        account_id,
        explode(account_tips) as message_id
    from signing_keys

    union

    select
        account_id,
        explode(prev) as message_id
    from {{ ref('int_pzp_account_messages') }}
),

missing as (
    select
        named.account_id,
        named.message_id
    from named
    left anti join {{ ref('int_pzp_account_messages') }} as own
        on named.account_id = own.account_id and named.message_id = own.message_id
),

-- Verdicts on keys wait for missing messages of the account. A usable message outside the account's tangle can never
-- become a message of the account, so verdicts do not wait for it.
foreign_tips as (
    select
        missing.account_id,
        missing.message_id
    from missing
    left semi join {{ ref('stg_pzp__lines') }} as lines
        on missing.message_id = lines.message_id and lines.is_usable
)

select
    account_id,
    message_id,
    is_root,
    depth,
    prev,
    signers,
    key_action,
    key,
    is_signing_key,
    may_add_keys,
    may_delete_keys,
    is_erased,
    cast(null as boolean) as is_foreign,
    cast(null as array<string>) as account_tips,
    cast(null as string) as sigkey
from {{ ref('int_pzp_account_messages') }}

union all

select
    account_id,
    message_id,
    cast(null as boolean) as is_root,
    cast(null as bigint) as depth,
    cast(null as array<string>) as prev,
    cast(null as array<string>) as signers,
    cast(null as string) as key_action,
    cast(null as string) as key,
    cast(null as boolean) as is_signing_key,
    cast(null as boolean) as may_add_keys,
    cast(null as boolean) as may_delete_keys,
    cast(null as boolean) as is_erased,
    true as is_foreign,
    cast(null as array<string>) as account_tips,
    cast(null as string) as sigkey
from foreign_tips

union all

select
    account_id,
    cast(null as string) as message_id,
    cast(null as boolean) as is_root,
    cast(null as bigint) as depth,
    cast(null as array<string>) as prev,
    cast(null as array<string>) as signers,
    cast(null as string) as key_action,
    cast(null as string) as key,
    cast(null as boolean) as is_signing_key,
    cast(null as boolean) as may_add_keys,
    cast(null as boolean) as may_delete_keys,
    cast(null as boolean) as is_erased,
    cast(null as boolean) as is_foreign,
    account_tips,
    sigkey
from signing_keys
