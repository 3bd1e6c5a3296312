{{ config(enabled=has_log('ssb_log') and var('clock_limit') is number and var('clock_limit') > 0) }}

select
    tangle_name,
    root_id,
    {{ format_tangle_id() }} as tangle_id,
    message_id,
    author,
    sequence
from {{ ref('int_tangle_clocks') }}
