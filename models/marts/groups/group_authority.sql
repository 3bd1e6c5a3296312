{{ config(enabled=has_groups()) }}

select
    group_id,
    message_id,
    kind,
    author,
    person,
    person_source,
    epoch_ids,
    verdict,
    evidence
from {{ ref('int_group_authority') }}
