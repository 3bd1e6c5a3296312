{{ config(enabled=has_log('ssb_log')) }}

{#- explode() in the select list: with a lateral view some engines copy the whole list for each of its entries. -#}
select
    tangle_name,
    root_id,
    message_id,
    explode(previous) as previous_id,
    previous_count
from (
    select
        tangle_name,
        root_id,
        message_id,
        array_distinct(previous) as previous,
        cast(size(array_distinct(previous)) as int) as previous_count
    from {{ ref('int_tangle_candidates') }}
    where claim_error is null and not is_root and {{ has_sql_rounds() }}
) as candidates
