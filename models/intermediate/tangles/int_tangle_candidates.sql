{{ config(enabled=has_log('ssb_log')) }}

-- Every column of a claim, so that a column added there reaches the kernel and the marts.
select *  -- noqa: AM04
from {{ ref('int_tangle_claims') }}
where {{ is_changed('root_id', ref('int_tangle_versions')) }}
