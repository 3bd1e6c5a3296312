{{ config(enabled=has_groups()) }}

select
    group_id,
    epoch_id,
    feed_id,
    is_added,
    is_excluded,
    is_member,
    added_by,
    excluded_by,
    is_missing,
    is_returned
from {{ ref('int_group_results') }}
where row_kind = 'member'
