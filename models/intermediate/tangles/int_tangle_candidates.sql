select
    tangle_name,
    root_id,
    message_id,
    author,
    sequence,
    asserted_at,
    received_at,
    previous,
    is_root,
    claim_error
from {{ ref('int_tangle_claims') }}
where {{ is_changed('root_id', ref('int_tangle_versions')) }}
