-- Lines of the log = lines behind usable messages + rejected lines.
with counts as (
    select
        (select count(*) from {{ ref('stg_ssb__lines') }}) as lines,
        (select coalesce(sum(line_count), 0) from {{ ref('ssb_messages') }} where is_usable) as usable_lines,
        (select count(*) from {{ ref('ssb_rejects') }}) as rejected_lines
)

select *
from counts
where lines <> usable_lines + rejected_lines
