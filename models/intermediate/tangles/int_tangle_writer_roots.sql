{{ config(enabled=has_log('ssb_log')) }}

{% set restricted = list_restricted_types() -%}

with claims as (
    select
        messages.message_id,
        messages.author,
        messages.content,
        exploded.claim
    from {{ ref('ssb_messages') }} as messages
        lateral view explode(messages.tangle_claims) exploded as claim
    where messages.is_usable and {{ 'size(messages.tangle_claims) > 0' if restricted else 'false' }}
)

select
    claims.claim.tangle_name,
    claims.message_id as root_id,
    claims.author,
    types.writers_field,
    claims.content
from claims
inner join {{ ref('tangle_types') }} as types on claims.claim.tangle_name = types.tangle_name
where claims.claim.is_root and claims.claim.defect is null and types.writers_rule in ('root_author', 'root_field')
