{#- Of several lines about one base that differ, the least counts, so that their order does not. -#}
with lines as (
    select
        base_id,
        indexers,
        relayed,
        start,
        row_number() over (partition by base_id order by indexers asc, relayed asc, start asc) as version_number
    from {{ ref('stg_autobase__lines') }}
    where kind = 'base' and reject_reason is null
),

kept as (
    select *
    from lines
    where version_number = 1
)

select
    base_id,
    indexers,
    relayed,
    start,
    cast(size(indexers) as int) as indexer_count,
    cast(floor(size(indexers) / 2) + 1 as int) as majority
from kept
