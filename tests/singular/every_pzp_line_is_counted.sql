-- Lines of the pzp log = the lines behind usable messages + rejected lines.
with all_lines as (
    select count(*) as line_count
    from {{ ref('stg_pzp__lines') }}
),

usable as (
    select coalesce(sum(line_count), 0) as line_count
    from {{ ref('pzp_messages') }}
    where is_usable
),

rejected as (
    select count(*) as line_count
    from {{ ref('pzp_rejects') }}
)

select
    all_lines.line_count,
    usable.line_count as usable_count,
    rejected.line_count as rejected_count
from all_lines
cross join usable
cross join rejected
where all_lines.line_count <> usable.line_count + rejected.line_count
