{{ config(enabled=has_log('autobase_log')) }}

{#- Of several different lines about one base, the least is taken, so that the order of lines does not matter. -#}
with base_lines as (
    select
        base_id,
        indexers,
        relayed,
        start,
        row_number() over (partition by base_id order by indexers asc, relayed asc, start asc) as version_number
    from {{ ref('stg_autobase__lines') }}
    where kind = 'base' and reject_reason is null
)

select
    base_id,
    indexers,
    relayed,
    start,
    cast(size(indexers) as int) as indexer_count,
    cast(floor(size(indexers) / 2) + 1 as int) as majority
from base_lines
where version_number = 1
