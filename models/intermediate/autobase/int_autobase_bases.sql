{#- Of several lines about one base that differ, the least counts, so that their order does not. -#}
with lines as (
    select
        base_id,
        struct(indexers, relayed, start) as said
    from {{ ref('stg_autobase__lines') }}
    where kind = 'base' and reject_reason is null
),

kept as (
    select
        base_id,
        min(said) as said
    from lines
    group by base_id
)

select
    kept.base_id,
    kept.said.indexers,
    kept.said.relayed,
    kept.said.start,
    cast(size(kept.said.indexers) as int) as indexer_count,
    cast(floor(size(kept.said.indexers) / 2) + 1 as int) as majority
from kept
