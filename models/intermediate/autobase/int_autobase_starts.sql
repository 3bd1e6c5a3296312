{#- Where a base says how much was confirmed before this log and leaves a writer out, that writer's log begins where it
    begins. -#}
with bases as (
    select
        base_id,
        start
    from {{ ref('int_autobase_bases') }}
),

said as (
    select
        bases.base_id,
        confirmed.writer,
        confirmed.length as start_length
    from bases
        lateral view explode(bases.start) exploded as confirmed
),

found as (
    select
        base_id,
        writer,
        min(length) - 1 as start_length
    from {{ ref('stg_autobase__lines') }}
    where kind = 'node' and reject_reason is null
    group by base_id, writer
)

select
    base_id,
    writer,
    start_length
from said

union all

select
    found.base_id,
    found.writer,
    if(bases.start is null, 0, found.start_length) as start_length
from found
inner join bases on found.base_id = bases.base_id
left anti join said on found.base_id = said.base_id and found.writer = said.writer
