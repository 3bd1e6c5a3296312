{{ config(enabled=has_log('ssb_log')) }}

select
    tangle_name,
    root_id,
    {{ format_tangle_id() }} as tangle_id,
    tips as previous,
    depth + 1 as depth
from {{ ref('tangles') }}
where member_count > 0 and tangle_name != 'ssb:feed'
