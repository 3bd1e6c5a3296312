{{ config(enabled=has_log('ssb_log')) }}

select
    tangle_name,
    root_id,
    message_id,
    author,
    sequence
from {{ ref('int_tangle_clock_rounds') }}
where author is not null

union all

select
    tangle_name,
    root_id,
    message_id,
    author,
    sequence
from {{ ref('int_tangle_clocks') }}
