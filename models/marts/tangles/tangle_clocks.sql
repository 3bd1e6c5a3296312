select
    tangle_name,
    root_id,
    message_id,
    author,
    sequence
from {{ ref('int_tangle_clocks') }}
