{{ config(enabled=has_log('pzp_log')) }}

select
    message_id,
    line_count,
    account,
    account_tips,
    domain,
    sigkey,
    is_moot,
    has_data,
    is_data_valid,
    is_signature_valid,
    is_key_authorised,
    awaited_ids,
    is_usable,
    is_id_consistent,
    reject_reason,
    claimed_id
from {{ ref('int_pzp_messages') }}
