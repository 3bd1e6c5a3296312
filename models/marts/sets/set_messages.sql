{{ config(enabled=has_log('pzp_log')) }}

select
    set_id,
    account,
    domain,
    message_id,
    depth,
    is_valid,
    is_held,
    reject_reason,
    if(reject_reason = 'unknown_account_tips', awaited_ids, null) as awaited_ids,
    position,
    is_moot as is_root,
    has_data,
    coalesce(is_item_root, false) as is_item_root,
    coalesce(is_item_root_by_document, false) as is_item_root_by_document,
    coalesce(is_tip, false) as is_tip,
    purpose,
    action
from {{ ref('int_set_messages') }}
