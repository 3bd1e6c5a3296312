-- Every example of a base: its nodes, but for those that are set aside.

with stated as (
    select
        example,
        node,
        substr(node, 1, 1) as letter,
        role,
        is_head,
        votes
    from {{ ref('expected_autobase_nodes') }}
),

expected as (
    select
        stated.example as base_id,
        concat(writers.writer, ':', cast(substr(stated.node, 2) as int) + 1) as node_id,
        writers.writer,
        cast(substr(stated.node, 2) as int) + 1 as length,
        stated.role,
        stated.is_head,
        stated.votes
    from stated
    {{ by_letter('writers', 'letter', 'autobase_fixture_writers') }}
),

built as (
    select
        base_id,
        node_id,
        writer,
        length,
        role,
        is_head,
        votes
    from {{ ref('autobase_nodes') }}
)

{{ differences('expected', 'built') }}
