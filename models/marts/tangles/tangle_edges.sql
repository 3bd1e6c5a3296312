{{ config(enabled=has_log('ssb_log')) }}

select
    levels.tangle_name,
    levels.root_id,
    {{ format_tangle_id('levels.tangle_name', 'levels.root_id') }} as tangle_id,
    levels.message_id,
    edge.previous_id,
    levels.set_aside_reason is null as is_member_edge,
    coalesce(array_contains(levels.redundant_previous, edge.previous_id), false) as is_redundant
from {{ ref('int_tangle_levels') }} as levels
    lateral view explode(array_distinct(levels.previous)) edge as previous_id
where levels.claim_error is null and not levels.is_root

union all

select
    'ssb:feed' as tangle_name,
    root_id,
    {{ format_tangle_id("'ssb:feed'") }} as tangle_id,
    message_id,
    previous_id,
    true as is_member_edge,
    false as is_redundant
from {{ ref('int_feed_tangles') }}
where previous_id is not null
