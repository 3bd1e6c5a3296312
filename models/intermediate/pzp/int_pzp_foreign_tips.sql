{{ config(enabled=has_log('pzp_log')) }}

{#- Verdicts on keys wait for missing messages of the account. A usable message outside the account's tangle can never
    become a message of the account, so verdicts do not wait for it. -#}
with named as (
    select
        account as account_id,
        explode(account_tips) as message_id
    from {{ ref('stg_pzp__lines') }}
    where sigkey is not null and not is_moot and account not in ('self', 'any')

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
)

select
    missing.account_id,
    missing.message_id,
    true as is_foreign
from missing
left semi join {{ ref('stg_pzp__lines') }} as lines
    on missing.message_id = lines.message_id and lines.is_usable
