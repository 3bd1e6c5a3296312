{{ config(enabled=has_log('autobase_log')) }}

{#- A base can state the confirmed length of each writer's log. Where it states lengths but leaves a writer out, that
    writer's log starts at its first node. -#}
with bases as (
    select
        base_id,
        start
    from {{ ref('int_autobase_bases') }}
),

stated as (
    select
        bases.base_id,
        confirmed.writer,
        confirmed.length as start_length
    from bases
        lateral view explode(bases.start) exploded as confirmed
),

first_nodes as (
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
from stated

union all

select
    first_nodes.base_id,
    first_nodes.writer,
    if(bases.start is null, 0, first_nodes.start_length) as start_length
from first_nodes
inner join bases on first_nodes.base_id = bases.base_id
left anti join stated on first_nodes.base_id = stated.base_id and first_nodes.writer = stated.writer
