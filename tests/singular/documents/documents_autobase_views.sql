-- Every example of a base: what each observer sees, in which order, and how much of it is settled.
{{ config(enabled=var('consensus_rule') == 'autobase') }}

with stated as (
    select
        example,
        observer,
        position,
        node,
        substr(node, 1, 1) as letter,
        is_confirmed,
        is_ack
    from {{ ref('expected_autobase_views') }}
),

expected as (
    select
        stated.example as base_id,
        coalesce(observers.writer, stated.observer) as observer,
        stated.position,
        concat(writers.writer, ':', cast(substr(stated.node, 2) as int) + 1) as node_id,
        writers.writer,
        cast(substr(stated.node, 2) as int) + 1 as length,
        stated.is_confirmed,
        stated.is_ack,
        if(stated.is_ack, null, concat('"', stated.node, '"')) as value
    from stated
    {{ by_letter('writers', 'letter', 'autobase_fixture_writers') }}
    left join {{ ref('autobase_fixture_writers') }} as observers
        on stated.example = observers.example and stated.observer = observers.letter
),

built as (
    select
        base_id,
        observer,
        position,
        node_id,
        writer,
        length,
        is_confirmed,
        is_ack,
        value
    from {{ ref('autobase_views') }}
)

{{ differences('expected', 'built') }}
