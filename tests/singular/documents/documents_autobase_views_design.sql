-- The views of the document's examples as far as the document states them.
{{ config(enabled=var('consensus_rule') == 'design') }}

with stated as (
    select
        example,
        observer,
        position,
        node,
        substr(node, 1, 1) as letter,
        cast(nullif(is_confirmed, '') as boolean) as is_confirmed
    from {{ ref('expected_autobase_views_design') }}
),

expected as (
    select
        stated.example as base_id,
        coalesce(observers.writer, stated.observer) as observer,
        stated.position,
        concat(writers.writer, ':', cast(substr(stated.node, 2) as int) + 1) as node_id,
        stated.is_confirmed
    from stated
    {{ by_letter('writers', 'letter', 'autobase_fixture_writers') }}
    left join {{ ref('autobase_fixture_writers') }} as observers
        on stated.example = observers.example and stated.observer = observers.letter
),

built as (
    select
        built.base_id,
        built.observer,
        built.position,
        built.node_id,
        if(expected.is_confirmed is null, null, built.is_confirmed) as is_confirmed
    from {{ ref('autobase_views') }} as built
    inner join expected
        on
            built.base_id = expected.base_id
            and built.observer = expected.observer
            and built.position = expected.position
)

{{ differences('expected', 'built') }}
