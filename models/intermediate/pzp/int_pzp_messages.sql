{{ config(enabled=has_log('pzp_log')) }}

{#- Several lines can have one id: the data is present or erased, and anyone can sign the same metadata with another
    key. A line signed by a key of the account comes before a line of another key, and a line with data before one
    without. -#}
{% set wrong_id %}case when claimed_id <> message_id then {{ keep_claimed_id('claimed_id', 'pzp') }} end{% endset -%}

with lines as (
    select
        lines.*,
        coalesce(lines.data_kind in ('object', 'string'), false) as has_data,
        authority.is_key_authorised,
        authority.awaited_ids
    from {{ ref('stg_pzp__lines') }} as lines
    left join {{ ref('int_pzp_key_authority') }} as authority
        on
            not lines.is_moot
            and lines.account = authority.account_id
            and lines.account_tips <=> authority.account_tips
            and lines.sigkey = authority.sigkey
    where lines.message_id is not null
),

marked as (
    {{ mark_repeated('lines', 'message_id') }}
),

ranked as (
    select
        *,
        row_number() over (
            partition by message_id
            order by
                is_usable desc, is_key_authorised is true desc, is_key_authorised is null desc, reject_rank desc,
                has_data desc, is_moot desc, account asc, domain asc, sigkey asc, account_tips asc, tangles asc,
                data_kind asc, add asc, del asc, supersedes asc, is_data_valid asc, is_signature_valid asc,
                reject_reason asc
        ) as copy_number,
        count(*) over (partition by message_id, is_usable) as line_count,
        min({{ wrong_id }}) over (partition by message_id, is_usable) as wrong_id,
        max(claimed_id <> message_id) over (partition by message_id, is_usable) as has_wrong_id
    from marked
    where is_repeated

    union all

    select
        *,
        1 as copy_number,
        1 as line_count,
        {{ wrong_id }} as wrong_id,
        claimed_id <> message_id as has_wrong_id
    from marked
    where not is_repeated
)

select
    message_id,
    line_count,
    account,
    account_tips,
    domain,
    sigkey,
    is_moot,
    tangles,
    has_data,
    add,
    del,
    supersedes,
    is_data_valid,
    is_signature_valid,
    is_key_authorised,
    awaited_ids,
    is_usable,
    not coalesce(has_wrong_id, false) as is_id_consistent,
    reject_reason,
    wrong_id as claimed_id
from ranked
where copy_number = 1
